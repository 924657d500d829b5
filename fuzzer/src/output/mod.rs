//! The folder on disk and the screen: what a campaign leaves behind and what it says meanwhile.
