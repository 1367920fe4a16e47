//! `history` and `forget`: the sessions that are over, read by the connection itself.

use antidrift_protocol::{
    Answer, AskHistory, Changed, Command, ErrorCode, ErrorObject, Forgotten, NoArgs,
};

use super::connection::{Connection, End};

impl Connection {
    pub(super) async fn history(&mut self, id: Option<u64>, range: AskHistory) -> Result<(), End> {
        let history = self.shared.services().history;
        let result = history.sessions(range).await.map(Answer::History);
        Ok(self.reply(id, result.map_err(none)).await?)
    }

    pub(super) async fn forget(&mut self, id: Option<u64>) -> Result<(), End> {
        // First what the session remembers, so that nothing of it is kept again afterwards.
        let unsaved = match self.tell(Command::Forget(NoArgs {})).await {
            Ok(Answer::End(Changed { saved: false, warning, .. })) => warning,
            Ok(_) => None,
            Err(error) => return Ok(self.reply(id, Err(error)).await?),
        };
        let history = self.shared.services().history;
        let result = match (history.forget().await, unsaved) {
            (Ok(_), Some(why)) => {
                Err(format!("what was kept is wiped, but the latest may come back: {why}"))
            }
            (result, _) => result.map(|sessions| Answer::Forget(Forgotten { sessions })),
        };
        Ok(self.reply(id, result.map_err(none)).await?)
    }
}

fn none(why: String) -> ErrorObject {
    ErrorObject::new(ErrorCode::NoHistory, why)
}
