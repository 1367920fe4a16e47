//! antidrift
fn main() {}
