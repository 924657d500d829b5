//! Archives of one object with one symbol, as all linkers read them. Written here since the machine may have no `ar`.

/// Makes an archive of an object, which a linker takes if `symbol` is needed and not defined before.
pub(crate) fn archive(name: &str, object: &[u8], symbol: &str) -> Vec<u8> {
    const MAGIC: &[u8] = b"!<arch>\n";
    // the index: number of symbols, where each one's object begins, names
    let mut index = 1_u32.to_be_bytes().to_vec();
    index.extend([0; 4]);
    index.extend(symbol.bytes().chain([0]));
    let header = |name: &str, size: usize| format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644);
    let begins = MAGIC.len() + header("/", 0).len() + index.len().next_multiple_of(2);
    index[4..8].copy_from_slice(&(begins as u32).to_be_bytes());
    let mut archive = MAGIC.to_vec();
    for (name, contents) in [("/", index.as_slice()), (&format!("{name}/"), object)] {
        archive.extend(header(name, contents.len()).bytes());
        archive.extend(contents);
        if contents.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_leads_to_the_object() {
        for object in [b"odd".as_slice(), b"even"] {
            let archive = archive("main.o", object, "main");
            assert!(archive.starts_with(b"!<arch>\n/  ") && archive.len().is_multiple_of(2));
            let at = u32::from_be_bytes(archive[72..76].try_into().unwrap()) as usize;
            assert_eq!(&archive[76..81], b"main\0");
            assert_eq!(&archive[at..at + 7], b"main.o/");
            assert_eq!(&archive[at + 60..at + 60 + object.len()], object);
        }
    }
}
