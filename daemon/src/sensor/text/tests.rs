use proptest::prelude::*;

use super::*;

const CAP: usize = 1024;

fn compound(bytes: &[u8]) -> String {
    single(Encoding::CompoundText, bytes, CAP)
}

#[test]
fn a_bad_byte_is_replaced_and_the_rest_is_kept() {
    let title = single(Encoding::Utf8, b"bad\x80\xfftitle", CAP);
    assert_eq!(title, "bad\u{fffd}\u{fffd}title");
}

#[test]
fn string_is_latin_1_with_its_c1_bytes() {
    assert_eq!(single(Encoding::Latin1, b"caf\xe9 \x9b", CAP), "café \u{9b}");
}

/// Bytes as Xlib makes them of these texts.
#[test]
fn compound_text_is_read_in_its_charsets() {
    assert_eq!(compound(b"New \x1b%G\xe2\x80\x94\x1b%@ \x1b-L\xbc\xde\xd7"), "New — Моз");
    assert_eq!(compound(b"New \xb7 \x1b%G\xe2\x80\x94\x1b%@ Moz"), "New · — Moz");
    assert_eq!(compound(b"\x1b-B\xa3\x1b-A\xf3d\x1b-B\xbc"), "Łódź");
    assert_eq!(compound(b"\x1b-F\xc5\xeb"), "Ελ");
    assert_eq!(compound(b"\x1b-Y\xb4\x1b(Bx\xa1"), "“x”");
    assert_eq!(compound(b"\x1b)I\xb6\xc5"), "ｶﾅ");
    assert_eq!(compound(b"\x1b(J\x5c"), "¥");
}

#[test]
fn only_the_segment_without_a_table_is_replaced() {
    assert_eq!(compound(b"Gr\xf6\xdfe \x1b$(B8+=P$7"), "Größe \u{fffd}");
    assert_eq!(compound(b"\x1b$(C GQ19\x1b(B kr"), " \u{fffd} kr");
    assert_eq!(compound(b"a\x1b%/1\x80\x88big5-0\x02\xa4b"), "a\u{fffd}b");
}

#[test]
fn an_extended_segment_is_read_by_its_name() {
    assert_eq!(compound(b"\x1b%/1\x80\x8dISO8859-15\x02\xa4\xa4!"), "€€!");
    assert_eq!(compound(b"\x1b%/0\x80\x89UTF-8\x02\xe2\x82\xac!"), "€!");
}

#[test]
fn direction_marks_and_unknown_escapes_leave_nothing_behind() {
    assert_eq!(compound(b"\x9b2]abc\x9b]\x1b#1\x1b=def\x1b"), "abcdef");
}

#[test]
fn nul_ends_a_title_whether_it_is_there_or_not() {
    for bytes in [&b"abc"[..], b"abc\0", b"abc\0\0", b"abc\0left over", b"\0abc"] {
        for encoding in [Encoding::Utf8, Encoding::Latin1, Encoding::CompoundText] {
            assert_eq!(single(encoding, bytes, CAP), "abc");
        }
    }
    assert_eq!(single(Encoding::Utf8, b"\0\0", CAP), "");
}

#[test]
fn both_strings_of_wm_class_are_whole() {
    let pair = |bytes| pair(Encoding::Latin1, bytes, 256);
    assert_eq!(pair(b"org.gnome\0Nautilus\0"), ("org.gnome".into(), "Nautilus".into()));
    assert_eq!(pair(b"org\0gnome.Nautilus"), ("org".into(), "gnome.Nautilus".into()));
    assert_eq!(pair(b"alone"), ("alone".into(), String::new()));
    assert_eq!(pair(b"\0Class\0"), (String::new(), "Class".into()));
    assert_eq!(pair(b""), (String::new(), String::new()));
}

/// Moving the cut through every place inside a character.
#[test]
fn the_cut_falls_between_characters() {
    for ch in ['●', 'é', 'م', '👪'] {
        for prefix in 0..4 {
            let whole = "a".repeat(prefix) + &ch.to_string().repeat(600);
            let kept = single(Encoding::Utf8, whole.as_bytes(), CAP);
            assert!(whole.starts_with(&kept));
            assert!(kept.len() <= CAP && kept.len() + ch.len_utf8() > CAP);
        }
    }
}

#[test]
fn every_part_has_96_characters() {
    for (_, number, table) in PARTS {
        assert_eq!(table.chars().count(), 96, "ISO 8859-{number}");
    }
}

/// Bytes that often form escape sequences.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let escapes =
        prop::sample::select(&b"\x1b\x1b\x1b\x9b%/G@$()-ABIJL012]\x02\x80\x85\xa4\xe2\0"[..]);
    prop::collection::vec(prop_oneof![3 => escapes, 1 => any::<u8>()], 0..300)
}

proptest! {
    #[test]
    fn any_bytes_give_bounded_text(bytes in hostile(), cap in 0_usize..64) {
        for encoding in [Encoding::Utf8, Encoding::Latin1, Encoding::CompoundText] {
            let text = single(encoding, &bytes, cap);
            prop_assert!(text.len() <= cap);
            prop_assert!(!text.contains('\0'));
            let (instance, class) = pair(encoding, &bytes, cap);
            prop_assert!(instance.len() <= cap && class.len() <= cap);
        }
    }

    #[test]
    fn compound_text_lets_no_escape_through(bytes in hostile()) {
        // inside a UTF-8 segment bytes are taken as they are, so that one is left out here
        let bytes: Vec<u8> = bytes.into_iter().filter(|byte| !b"GU8".contains(byte)).collect();
        prop_assert!(!compound(&bytes).contains('\x1b'));
    }

    #[test]
    fn a_property_with_text_never_comes_out_empty(bytes in prop::collection::vec(1_u8.., 1..300)) {
        for encoding in [Encoding::Utf8, Encoding::Latin1] {
            prop_assert!(!single(encoding, &bytes, CAP).is_empty());
        }
        let printable: Vec<u8> = bytes.iter().map(|b| b | 0xa0).collect();
        prop_assert!(!single(Encoding::CompoundText, &printable, CAP).is_empty());
    }

    #[test]
    fn text_survives_its_own_encoding(text in "[^\0]{0,80}", latin in "[\u{20}-\u{7e}\u{a0}-\u{ff}]{0,80}") {
        prop_assert_eq!(single(Encoding::Utf8, text.as_bytes(), CAP), text);
        let bytes: Vec<u8> = latin.chars().map(|c| c as u8).collect();
        prop_assert_eq!(single(Encoding::Latin1, &bytes, CAP), latin.clone());
        prop_assert_eq!(single(Encoding::CompoundText, &bytes, CAP), latin);
    }
}
