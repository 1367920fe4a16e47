//! Questions to the display, each on a thread of its own and with a limit, so that a display that
//! hangs holds nobody up.

use std::{sync::Arc, time::Duration};

use crate::{
    evidence::Window,
    sensor::{Errand, Settings},
};

/// How long a display may take to answer.
const LIMIT: Duration = Duration::from_secs(2);

/// A display, for questions.
#[derive(Clone, Debug)]
pub struct Desk {
    settings: Settings,
}

impl Desk {
    /// The display that these settings name. Nothing is connected to before it is asked something.
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }

    /// The open windows, the oldest first. Needs a runtime.
    ///
    /// # Errors
    ///
    /// Why they cannot be seen, in a sentence.
    pub async fn windows(&self) -> Result<Vec<Window>, String> {
        self.ask(Errand::windows).await
    }

    /// Gives a window the focus, as a pager does, and its workspace with it. False when it is gone,
    /// or when the window manager leaves the focus elsewhere. Needs a runtime.
    pub async fn activate(&self, window: Arc<Window>) -> bool {
        let asked = self.ask(move |errand| errand.activate(&window)).await;
        asked.unwrap_or_else(|reason| {
            tracing::debug!("no window can be given the focus: {reason}");
            false
        })
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(Errand) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let (errand, recall) =
            Errand::new(self.settings.clone()).map_err(|error| error.to_string())?;
        let asking = tokio::task::spawn_blocking(move || question(errand));
        let asked = tokio::time::timeout(LIMIT, asking).await;
        recall.recall();
        match asked {
            Ok(Ok(asked)) => asked,
            Ok(Err(_)) => Err("the X server could not be asked".into()),
            Err(_) => Err("the X server does not answer".into()),
        }
    }
}
