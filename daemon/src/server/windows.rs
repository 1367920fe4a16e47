//! `windows`: which are open, asked of the display by the connection itself.

use antidrift_protocol::{Answer, ErrorCode, ErrorObject, Windows};

use super::connection::{Connection, End};
use crate::session::wire_window;

impl Connection {
    pub(super) async fn windows(&mut self, id: Option<u64>) -> Result<(), End> {
        let desk = self.shared.services().desk;
        let result = match desk.windows().await {
            Ok(windows) => {
                let windows = windows.iter().map(wire_window).collect();
                Ok(Answer::Windows(Windows::within_a_line(windows)))
            }
            Err(reason) => Err(ErrorObject::new(ErrorCode::NoDisplay, reason)),
        };
        Ok(self.reply(id, result).await?)
    }
}
