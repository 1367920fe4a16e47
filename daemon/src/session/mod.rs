//! The pure session.
