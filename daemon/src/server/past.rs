//! `history` and `forget`: the sessions that are over, read by the connection itself.

use antidrift_protocol::{Answer, AskHistory, ErrorCode, ErrorObject, Forgotten};

use super::connection::{Connection, End};

impl Connection {
    pub(super) async fn history(&mut self, id: Option<u64>, range: AskHistory) -> Result<(), End> {
        let history = self.shared.services().history;
        let result = history.sessions(range).await.map(Answer::History);
        Ok(self.reply(id, result.map_err(none)).await?)
    }

    pub(super) async fn forget(&mut self, id: Option<u64>) -> Result<(), End> {
        let history = self.shared.services().history;
        let result = history.forget().await.map(|sessions| Answer::Forget(Forgotten { sessions }));
        Ok(self.reply(id, result.map_err(none)).await?)
    }
}

fn none(why: String) -> ErrorObject {
    ErrorObject::new(ErrorCode::NoHistory, why)
}
