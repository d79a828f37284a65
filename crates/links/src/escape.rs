//! Values as they stand in an address, as browsers read and write them.
//!
//! Less code than a library brings, which the first screen would have to load; a test compares it with one.

/// Reads a name or a value: `+` is a space, and `%20` a byte.
/// What is no UTF-8 then becomes replacement characters, which no value of a link has.
pub(crate) fn read(text: &str) -> String {
    let mut bytes = text.as_bytes().iter();
    let mut read = Vec::with_capacity(text.len());
    while let Some(&byte) = bytes.next() {
        read.push(match byte {
            b'+' => b' ',
            b'%' => match escaped(bytes.as_slice()) {
                Some(byte) => {
                    bytes.nth(1);
                    byte
                }
                // Only a percent sign.
                None => byte,
            },
            _ => byte,
        });
    }
    String::from_utf8(read).unwrap_or_else(|error| {
        let letter = |byte: u8| if byte.is_ascii() { char::from(byte) } else { char::REPLACEMENT_CHARACTER };
        error.into_bytes().into_iter().map(letter).collect()
    })
}

/// The byte that two hexadecimal digits at the start of `after` stand for.
fn escaped(after: &[u8]) -> Option<u8> {
    let digit = |place: usize| char::from(*after.get(place)?).to_digit(16);
    Some((digit(0)? * 16 + digit(1)?) as u8)
}

/// Writes a value; what JavaScript’s `encodeURIComponent` leaves stands as it is, and so does the comma.
pub(crate) fn write(value: &str, into: &mut String) {
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'(),".contains(&byte) {
            into.push(char::from(byte));
        } else {
            into.push('%');
            for digit in [byte >> 4, byte & 15] {
                into.push(char::from(b"0123456789ABCDEF"[usize::from(digit)]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_read_as_browsers_read_them() {
        for (text, expected) in [
            ("4+pause%20A", "4 pause A"),
            ("%2B%2b%", "++%"),
            ("%4", "%4"),
            ("%zz%+41", "%zz% 41"),
            ("%C3%84Ä", "ÄÄ"),
            ("a%F0%28", "a\u{fffd}("),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_library(text in "[%+0-9a-fA-Fx ÄÖ😀]{0,40}|\\PC{0,40}") {
            prop_assume!(!text.contains(['&', '=']));
            let pair = format!("x={text}");
            let (_, value) = form_urlencoded::parse(pair.as_bytes()).next().expect("it has a value");
            // How much of what is no UTF-8 becomes one replacement character is left open.
            if !value.contains(char::REPLACEMENT_CHARACTER) {
                prop_assert_eq!(read(&text), value);
            }
        }

        #[test]
        fn what_is_written_is_read(value in any::<String>()) {
            let mut pair = "x=".to_owned();
            write(&value, &mut pair);
            prop_assert_eq!(read(&pair[2..]), value.clone());
            let read: Vec<_> = form_urlencoded::parse(pair.as_bytes()).into_owned().collect();
            prop_assert_eq!(read, [("x".to_owned(), value)]);
        }
    }
}
