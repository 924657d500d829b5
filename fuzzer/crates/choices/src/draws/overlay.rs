//! Values that draws are to take, whatever the input holds.

/// Item of an overlay (`struct qgm_overlay_item`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// [`Draw::key`](super::Draw::key) of the draw.
    pub key: u64,
    /// Place of its bytes in [`Overlay::bytes`].
    pub start: u32,
    /// Number of bytes.
    pub length: u32,
}

/// Bytes for draws of the next run: the runtime writes them into the input just before the draw takes them, so that draws
/// keep their values when other draws come or go before them. What comes out is an ordinary input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlay {
    items: Vec<Item>,
    bytes: Vec<u8>,
}

impl Overlay {
    /// Removes everything.
    pub fn clear(&mut self) {
        self.items.clear();
        self.bytes.clear();
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Adds the bytes for the draw with this key, as they are to lie in the input. Of two for one key, one is used.
    pub fn set(&mut self, key: u64, bytes: &[u8]) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        self.items.push(Item { key, start, length: bytes.len() as u32 });
    }

    /// Its items sorted by key, as the runtime wants them.
    pub fn sorted(&mut self) -> &[Item] {
        self.items.sort_unstable_by_key(|item| item.key);
        &self.items
    }

    /// Bytes of all items.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
