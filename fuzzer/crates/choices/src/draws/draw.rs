//! Draws as the runtime records them, and values that it is to give them.

/// Kind of a draw (`enum qgm_draw_kind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// An integer of a range.
    Integer,
    /// A flag.
    Flip,
    /// A choice among some.
    Pick,
    /// A floating-point number.
    Real,
    /// Text whose length is part of its contents (`ConsumeRandomLengthString`).
    Text,
    /// As many bytes as the harness asks for.
    Bytes,
    /// All bytes that are left.
    Rest,
    /// The number of bytes that are left, which takes none of them (`remaining_bytes`).
    Size,
    /// The beginning of a part that the generator has named.
    Open,
    /// The end of such a part.
    Close,
}

/// End of the input from which a draw takes its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The front, bytes in order: text and bytes.
    Front,
    /// The back, the last byte first: numbers.
    Back,
}

/// A draw of the last run (`struct qgm_draw`). The target may have overwritten it with anything.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Draw {
    /// Place of the call in the program: its return address, relative to where its object is loaded. The same in every
    /// run of one build.
    pub site: u64,
    /// Place of the draw in its run: a hash of the parts around it, the site, and how often that was reached in this part.
    pub key: u64,
    /// Largest value minus smallest for numbers and picks, 1 for flips; the number of bytes asked for with text and bytes.
    pub range: u64,
    /// Value minus smallest for numbers, picks and flips; the hash of the bytes for others.
    pub value: u64,
    /// Place of the first (lowest) of its bytes in the input; `u32::MAX` if it takes bytes that are not in the input.
    pub offset: u32,
    /// Number of bytes that it took.
    pub length: u32,
    /// Number of the part to which it belongs, which is that of the part's first draw in the list of draws.
    pub part: u32,
    /// Number of parts around it: 0 outside of all.
    pub depth: u16,
    /// Number of its [`Kind`].
    pub kind: u8,
    /// Nonzero if an overlay has set its bytes.
    pub is_overlaid: u8,
}

impl Draw {
    /// Offset of draws whose bytes are not in the input.
    pub const ELSEWHERE: u32 = u32::MAX;

    /// Its kind; `None` if the number is none.
    pub fn kind(&self) -> Option<Kind> {
        const KINDS: [Kind; 10] = [
            Kind::Integer,
            Kind::Flip,
            Kind::Pick,
            Kind::Real,
            Kind::Text,
            Kind::Bytes,
            Kind::Rest,
            Kind::Size,
            Kind::Open,
            Kind::Close,
        ];
        KINDS.get(usize::from(self.kind)).copied()
    }

    /// End of the input from which it takes bytes; `None` if it takes none.
    pub fn side(&self) -> Option<Side> {
        match self.kind()? {
            Kind::Integer | Kind::Flip | Kind::Pick | Kind::Real => Some(Side::Back),
            Kind::Text | Kind::Bytes | Kind::Rest => Some(Side::Front),
            Kind::Size | Kind::Open | Kind::Close => None,
        }
    }
}

/// Item of an overlay (`struct qgm_overlay_item`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// [`Draw::key`] of the draw.
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
    /// Bytes of all items.
    pub bytes: Vec<u8>,
}

impl Overlay {
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
}
