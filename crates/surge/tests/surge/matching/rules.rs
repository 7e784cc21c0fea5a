//! The file of rules.

use trueplane_surge::matching::Rules;
use trueplane_surge::matching::pattern::Flags;
use trueplane_surge::matching::rules::Content;
use trueplane_surge::matching::rules::Place;

use super::example;

fn parse(text: &str) -> Result<Rules, String> {
    Rules::parse("a.rules", text.as_bytes()).map_err(|error| error.to_string())
}

/// The error of a rule with these options.
fn error(options: &str) -> String {
    parse(&format!("alert tcp any any -> any any {options}")).unwrap_err()
}

/// The error of a rule with this header.
fn header(header: &str) -> String {
    parse(&format!("{header} (content:\"a\"; sid:1;)")).unwrap_err()
}

#[test]
fn every_option_means_what_it_says() {
    let text = "\u{feff}# a comment\r\n\r\n  alert tcp $HOME_NET any -> [10.0.0.0/8, !10.1.0.1, 2001:db8::/32] [80:90,!85,1024:] \\\r\n \
                (msg:\"it\\\"s; 1\\;\"; \\\n content : \"G|45 5420|\\\\\\;\\|é\" ; nocase; content:\":\"; pcre:\"/a\\/b\\\"c/imsxE\"; gid:1; \
                classtype:x; metadata:a b, c d; reference:url,x; priority:1; target:src_ip; sid:4294967295; rev:3;) \t\r\nreject \
                ip !any :90 <> any 80 (content:\"x\"; pcre:\"/y/\"; pcre:\"/z/s\"; sid:2;)";
    let text = text.replacen("1; 1\\;", "1\\; 1\\;", 1).replacen("s; 1", "s\\; 1", 1);
    let rules = parse(&text).unwrap();
    let [first, second] = rules.rules() else { panic!("{rules:?}") };
    assert_eq!((first.sid, first.rev, first.line), (u32::MAX, 3, 3));
    assert_eq!(first.msg, "it\"s; 1;");
    let contents = [
        Content { bytes: "GET \\;|é".into(), nocase: true },
        Content { bytes: b":".to_vec(), nocase: false },
    ];
    assert_eq!(first.contents, contents);
    let flags = Flags { case_insensitive: true, multi_line: true, dot_all: true, extended: true };
    assert_eq!((first.patterns[0].source(), first.patterns[0].flags()), ("a\\/b\\\"c", flags));
    assert_eq!((second.sid, second.rev, second.msg.as_str(), second.line), (2, 0, "", 6));
    let sources: Vec<_> =
        second.patterns.iter().map(|pattern| (pattern.source(), pattern.place().line)).collect();
    assert_eq!(sources, [("y", 6), ("z", 6)]);
    assert_eq!(second.patterns[0].place(), Place { line: 6, column: 51 });
    assert_eq!(second.patterns[1].place(), Place { line: 6, column: 63 });
}

/// Reading is linear in the length of a line. If it were quadratic, this would take half an hour and more.
#[test]
fn a_line_may_be_long() {
    let (plain, pairs) = ("a".repeat(4 << 20), "61 ".repeat(1 << 20));
    let text =
        format!("alert tcp any any -> any any (content:\"{plain}\"; content:\"|{pairs}|\"; sid:1;)\r\n");
    let rules = parse(&text).unwrap();
    let lengths = rules.rules()[0].contents.iter().map(|content| content.bytes.len());
    assert_eq!(lengths.collect::<Vec<_>>(), [4 << 20, 1 << 20]);
    assert!(rules.rules()[0].contents.iter().all(|content| content.bytes.iter().all(|byte| *byte == b'a')));
}

#[test]
fn the_rules_that_come_with_it_are_read() {
    let rules = example();
    let sids: Vec<_> = rules.rules().iter().map(|rule| rule.sid).collect();
    assert_eq!(sids, Vec::from_iter(1..=12));
    assert!(rules.rules().iter().all(|rule| !rule.msg.is_empty() && rule.rev > 0));
}

#[test]
fn headers_have_their_shape() {
    const ADDRESS: &str = "expected an address: any, an IP address or network, $NAME, !… or […, …], got";
    const PORT: &str =
        "expected a port: any, a number up to 65535, a range like 80:90, $NAME, !… or […, …], got";
    let wrong = [
        (
            "pass tcp any any -> any any",
            "a.rules:1:1: expected alert, drop or reject, got \"pass\"".to_owned(),
        ),
        ("alert http any any -> any any", "a.rules:1:7: expected tcp, udp, ip or any, got \"http\"".into()),
        ("alert tcp 10.0.0.256 any -> any any", format!("a.rules:1:11: {ADDRESS} \"10.0.0.256\"")),
        ("alert tcp 10.0.0.0/33 any -> any any", format!("a.rules:1:11: {ADDRESS} \"10.0.0.0/33\"")),
        ("alert tcp [10.0.0.0/8,] any -> any any", format!("a.rules:1:11: {ADDRESS} \"[10.0.0.0/8,]\"")),
        (
            "alert tcp [10.0.0.1, x any -> any any",
            format!("a.rules:1:11: {ADDRESS} \"[10.0.0.1, x any -> any any \""),
        ),
        ("alert tcp $ any -> any any", format!("a.rules:1:11: {ADDRESS} \"$\"")),
        ("alert tcp any 65536 -> any any", format!("a.rules:1:15: {PORT} \"65536\"")),
        ("alert tcp any 90:80 -> any any", format!("a.rules:1:15: {PORT} \"90:80\"")),
        ("alert tcp any : -> any any", format!("a.rules:1:15: {PORT} \":\"")),
        ("alert tcp any any <- any any", "a.rules:1:19: expected -> or <>, got \"<\"".into()),
        ("alert tcp any any -> any", format!("a.rules:1:26: {PORT} \"(\"")),
        ("alert tcp any any", "a.rules:1:19: expected -> or <>, got \"(\"".into()),
        ("alert tcp any any -> any any any", "a.rules:1:30: expected \"(\", got \"any\"".into()),
    ];
    for (text, message) in wrong {
        assert_eq!(header(text), message, "{text}");
    }
    assert_eq!(
        parse("alert").unwrap_err(),
        "a.rules:1:6: expected tcp, udp, ip or any, got the end of the line"
    );
    let deep = format!("alert tcp {}any{} any -> any any", "[".repeat(9), "]".repeat(9));
    assert!(header(&deep).starts_with(&format!("a.rules:1:11: {ADDRESS}")));
}

#[test]
fn options_that_are_wrong_are_refused_where_they_are() {
    const UNDERSTOOD: &str = "msg, content, nocase, pcre, sid, rev, or one of those that are passed over: gid, classtype, metadata, \
                              priority, reference, target";
    let wrong = [
        ("(content:\"a\"; depth:3; sid:1;)", format!("44: expected {UNDERSTOOD}, got \"depth\"")),
        (
            "(nocase; content:\"a\"; sid:1;)",
            "31: expected a content before it that nocase is for, got none".into(),
        ),
        (
            "(content:\"a\"; nocase; nocase; sid:1;)",
            "52: expected a content before it that nocase is for, got none".into(),
        ),
        (
            "(content:\"a\"; sid:1; sid:2;)",
            "51: expected an option that the rule does not have yet, got \"sid\"".into(),
        ),
        ("(content:\"a\" sid:1;)", "43: expected \";\", got \"sid\"".into()),
        ("(content:\"a\"; sid:1)", "49: expected \";\", got \")\"".into()),
        ("(content:\"a\"; sid:1;", format!("50: expected {UNDERSTOOD}, got the end of the line")),
        ("(content:\"a\"; sid:0;)", "48: expected a number from 1 to 4294967295, got \"0\"".into()),
        (
            "(content:\"a\"; sid:4294967296;)",
            "48: expected a number from 1 to 4294967295, got \"4294967296\"".into(),
        ),
        ("(content:\"a\"; sid;)", "47: expected \":\", got \";\"".into()),
        ("(content:\"a\"; sid:1; rev:x;)", "55: expected a number from 1 to 4294967295, got \"x\"".into()),
        ("(content:\"a\"; rev:1;)", "30: expected a rule with a sid, got one without".into()),
        (
            "(pcre:\"/a/\"; sid:1;)",
            "30: expected a rule with a content, for the prefilter to find, got one without".into(),
        ),
        ("(content:\"a\"; sid:1;) x", "52: expected the end of the line, got \"x\"".into()),
        ("", "30: expected \"(\", got the end of the line".into()),
        ("(content:!\"a\"; sid:1;)", "39: expected bytes in quotation marks, got \"!\"".into()),
        ("(content:\"\"; sid:1;)", "40: expected a byte at least, got none".into()),
        ("(content:\"a|4|\"; sid:1;)", "43: expected two hexadecimal digits or \"|\", got \"|\"".into()),
        ("(content:\"|41 4g|\"; sid:1;)", "45: expected two hexadecimal digits or \"|\", got \"g\"".into()),
        ("(content:\"|41\"; sid:1;)", "43: expected two hexadecimal digits or \"|\", got \"\"\"".into()),
        ("(content:\"a\\b\"; sid:1;)", "42: expected one of \" \\ ; : | after a backslash, got \"b\"".into()),
        ("(content:\"a;b\"; sid:1;)", "41: expected \"\\;\" within quotation marks, got \";\"".into()),
        ("(content:\"ab", "42: expected \"\"\" before the line ends, got the end of the line".into()),
        ("(content:\"ab\\", "43: expected \"\"\" before the line ends, got the end of the line".into()),
        ("(msg:m; content:\"a\"; sid:1;)", "35: expected a text in quotation marks, got \"m\"".into()),
        (
            "(content:\"é\u{7}\"; pcre:x;)",
            "50: expected a regular expression between slashes in quotation marks, got \"x\"".into(),
        ),
    ];
    for (options, message) in wrong {
        assert_eq!(error(options), format!("a.rules:1:{message}"), "{options}");
    }
}

#[test]
fn regular_expressions_that_are_wrong_are_refused_where_they_are() {
    let wrong = [
        ("a", "50: expected a regular expression between slashes, got \"a\""),
        ("/a", "50: expected a regular expression between slashes, got \"/a\""),
        ("/a/imR", "55: expected a flag: i, m, s, x or E, got \"R\""),
        ("/a(b/", "52: expected a regular expression that all engines have, got \"(\": unclosed group"),
        (
            "/a(?=b)/",
            "52: expected a regular expression that all engines have, got \"(?=\": look-around, including look-ahead \
                      and look-behind, is not supported",
        ),
        (
            "/(a)\\1/",
            "54: expected a regular expression that all engines have, got \"\\1\": backreferences are not supported",
        ),
        (
            "/a++/",
            "53: expected a regular expression that all engines have, got \"+\": a quantifier after a quantifier; \
                   possessive ones are not understood",
        ),
        (
            "/[a&&b]/",
            "52: expected a regular expression that all engines have, got \"a&&b\": a class within a class",
        ),
        (
            "/[a[b]]/",
            "53: expected a regular expression that all engines have, got \"[b]\": a class within a class",
        ),
        (
            "/a\\<b/",
            "52: expected a regular expression that all engines have, got \"\\<\": engines do not agree on what it is",
        ),
        (
            "/(?u)a/",
            "53: expected a regular expression that all engines have, got \"u\": only the flags i, m, s, x and U are understood",
        ),
        (
            "/\\pL/",
            "51: expected a regular expression that all engines have, got \"\\pL\": Unicode not allowed here",
        ),
        (
            "/[é]/",
            "51: expected a regular expression that all engines have, got \"[é]\": Unicode not allowed here",
        ),
    ];
    for (pcre, message) in wrong {
        let text = format!("(content:\"a\"; pcre:\"{pcre}\"; sid:1;)");
        assert_eq!(error(&text), format!("a.rules:1:{message}"), "{pcre}");
    }
    let deep = format!("(content:\"a\"; pcre:\"/{}a{}/\"; sid:1;)", "(".repeat(101), ")".repeat(101));
    assert!(error(&deep).contains("expected a regular expression that all engines have"), "{}", error(&deep));
}

#[test]
fn files_that_are_wrong_are_refused_where_they_are() {
    let rule = "alert tcp any any -> any any (content:\"a\"; sid:7;)\n";
    assert_eq!(
        parse(&format!("#\n{rule}\n{rule}")).unwrap_err(),
        "a.rules:4:44: expected a sid of its own, got 7, which line 2 has"
    );
    assert_eq!(parse("").unwrap_err(), "a.rules:1:1: expected a rule, got none");
    assert_eq!(parse("# none\n").unwrap_err(), "a.rules:1:1: expected a rule, got none");
    let latin = Rules::parse("a\n.rules", b"#\n# caf\xe9\n").unwrap_err();
    assert_eq!(latin.to_string(), "a\\n.rules:2:6: expected UTF-8 text, got byte 0xe9");
    assert_eq!((latin.line, latin.column), (2, 6));
}
