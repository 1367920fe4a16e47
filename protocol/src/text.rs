//! Hostile text made fit to show: cleaning, and one function per place that text goes to.
