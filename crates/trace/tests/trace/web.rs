//! Logs of web servers: which lines count, how large objects are, and every format from the first line to the last.

use super::*;

/// An access log: `(request, status, size)` of each line, a second apart.
fn log(lines: &[(&str, u16, u64)]) -> String {
    let line = |(second, (request, status, size)): (usize, &(&str, u16, u64))| {
        format!("h - - [10/Oct/2000:13:55:{second:02} +0000] \"{request}\" {status} {size}\n")
    };
    lines.iter().enumerate().map(line).collect()
}

fn found(text: String, options: &TraceOptions, clock: Clock) -> (Vec<Request>, Skipped) {
    read(&Trace::from_bytes("a.log", text.into(), options).unwrap(), clock).unwrap()
}

#[test]
fn only_what_a_cache_may_answer_is_a_request() {
    let text = log(&[
        ("GET /a HTTP/1.1", 200, 10),
        ("POST /a HTTP/1.1", 200, 3),
        ("HEAD /a HTTP/1.1", 200, 0),
        ("GET /b HTTP/1.1", 503, 90),
        ("GET /b HTTP/1.1", 302, 0),
        ("DELETE /b HTTP/1.1", 204, 0),
        ("POST /b HTTP/1.1", 200, 3),
        ("GET /b HTTP/1.1", 404, 9),
        ("-", 408, 0),
    ]);
    let (requests, skipped) = found(text.clone(), &options(), Clock::Steps);
    let times: Vec<u64> = requests.iter().map(|request| request.time.0).collect();
    // What is left out is an idle step.
    assert_eq!(times, [0, 2, 7]);
    let expected = [
        ("POST requests, which --methods does not name", 2),
        ("answers 5xx that --statuses does not name", 1),
        ("answers 3xx that --statuses does not name", 1),
        ("DELETE requests, which --methods does not name", 1),
        ("lines without a request target", 1),
    ];
    assert_eq!(skipped, expected.map(|(what, count)| (what.to_owned(), count)));

    let all = |methods: &str, statuses: &str| {
        let (methods, statuses) = (methods.parse().ok(), statuses.parse().ok());
        let options = TraceOptions { methods, statuses, ..options() };
        found(text.clone(), &options, Clock::Timestamps).0.len()
    };
    assert_eq!((all("all", "all"), all("POST", "cacheable"), all("get", "2xx,503")), (8, 2, 2));

    let nothing = log(&[("POST /a HTTP/1.1", 200, 3)]);
    let error = triples("a.log", nothing, &options(), Clock::Steps).unwrap_err();
    assert_eq!(error, "a.log: no requests found (POST requests, which --methods does not name: 1)");
}

#[test]
fn a_last_line_that_is_cut_off_is_left_out() {
    let text = log(&[("GET /a HTTP/1.1", 200, 10), ("GET /b HTTP/1.1", 200, 10)]);
    let end = text.len();
    // Within the status, within the request, within the time.
    for cut in [7, 20, 50] {
        let (requests, skipped) = found(text[..end - cut].to_owned(), &options(), Clock::Timestamps);
        assert_eq!(requests.len(), 1, "{cut}");
        assert_eq!(skipped, [("lines cut off by the end of the file".to_owned(), 1)], "{cut}");
        let strict = TraceOptions { strict: true, ..options() };
        assert!(triples("a.log", text[..end - cut].to_owned(), &strict, Clock::Timestamps).is_err(), "{cut}");
    }
    // A line that only lacks its end is one, and a broken line within the file is none.
    assert_eq!(found(text[..end - 1].to_owned(), &options(), Clock::Timestamps).0.len(), 2);
    let broken = text.replace("GET /a HTTP/1.1\" 200", "GET /a");
    assert!(triples("a.log", broken, &options(), Clock::Timestamps).is_err());
}

#[test]
fn flags_of_web_logs_mean_nothing_elsewhere() {
    let refused = |options: TraceOptions| triples("t.csv", "0,5\n", &options, Clock::Steps).unwrap_err();
    assert_eq!(
        refused(TraceOptions { methods: "all".parse().ok(), ..options() }),
        "t.csv: --methods means nothing for the format csv"
    );
    assert_eq!(
        refused(TraceOptions { statuses: "2xx".parse().ok(), ..options() }),
        "t.csv: --statuses means nothing for the format csv"
    );
    assert_eq!(
        refused(TraceOptions { size_change: "last".parse().ok(), ..options() }),
        "t.csv: --size-change means nothing for a trace without sizes"
    );
}

#[test]
fn an_object_has_the_size_that_other_requests_tell() {
    let text = log(&[
        ("GET /a HTTP/1.1", 304, 0),
        ("GET /a HTTP/1.1", 200, 1000),
        ("GET /a HTTP/1.1", 206, 7),
        ("HEAD /a HTTP/1.1", 200, 0),
        ("GET /a HTTP/1.1", 200, 400),
        ("GET /a HTTP/1.1", 304, 180),
    ]);
    let sizes = |size_change: Option<&str>| {
        let size_change = size_change.map(|name| name.parse().unwrap());
        let options = TraceOptions { size_change, ..options() };
        let trace = Trace::from_bytes("a.log", text.clone().into(), &options).unwrap();
        let sizes = |clock| read(&trace, clock).unwrap().0.iter().map(|request| request.size).collect();
        let (steps, timed): (Vec<u64>, Vec<u64>) = (sizes(Clock::Steps), sizes(Clock::Timestamps));
        assert_eq!(steps, timed);
        steps
    };
    assert_eq!(sizes(None), [0, 1000, 1000, 1000, 400, 400]);
    assert_eq!(sizes(Some("last")), [0, 1000, 1000, 1000, 400, 400]);
    assert_eq!(sizes(Some("largest")), [1000; 6]);
    let error = TraceOptions { size_change: "error".parse().ok(), ..options() };
    let error = triples("a.log", text.clone(), &error, Clock::Steps).unwrap_err();
    let remedy = "take one of them with --size-change largest or last";
    assert_eq!(error, format!("a.log: \"/a\" has 1000 bytes and later 400; {remedy}"));
}

#[test]
fn sizes_may_change_in_other_formats_too() {
    let text = "time,key,size\n0,5,10\n1,5,\n2,5,12\n3,5,11\n";
    let sizes = |size_change: Option<&str>| {
        let options =
            TraceOptions { size_change: size_change.map(|name| name.parse().unwrap()), ..options() };
        let found = triples("t.csv", text, &options, Clock::Timestamps)?;
        Ok::<_, String>(found.iter().map(|&(_, _, size)| size).collect::<Vec<_>>())
    };
    assert_eq!(sizes(None), Ok(vec![10, 0, 12, 11]));
    assert_eq!(sizes(Some("last")), Ok(vec![10, 10, 12, 11]));
    assert_eq!(sizes(Some("largest")), Ok(vec![12; 4]));
    assert!(sizes(Some("error")).unwrap_err().starts_with("t.csv: key 5 has 10 bytes and later 12"));
}

const MS: u64 = 1_000_000;

#[test]
fn a_log_with_columns_is_read_as_columns() {
    let text = "1728568536.123 /a 5\n1728568536.125 /b 7\n";
    let columns = triples("access.log", text, &options(), Clock::Timestamps).unwrap();
    assert_eq!((columns[0].0, columns[1].2), (1_728_568_536_123 * MS, 7));
    assert_eq!(Ok(columns), triples("t.csv", text, &options(), Clock::Timestamps));
    let error = triples("access.log", text, &with_format(Format::AccessLog), Clock::Timestamps).unwrap_err();
    assert!(error.starts_with("access.log:1: expected a time such as"), "{error}");
    assert!(error.ends_with("; if these are columns, say --format csv"), "{error}");
}

#[test]
fn json_lines_are_requests() {
    let text = concat!(
        r#"{"level":"info","ts":1646861401.25,"logger":"admin","msg":"started"}"#,
        "\n",
        r#"{"ts":1646861401.5,"request":{"method":"GET","host":"h","uri":"/a"},"size":7,"status":200}"#,
        "\n",
        r#"{"ts":1646861402.5,"request":{"method":"PUT","host":"h","uri":"/a"},"size":2,"status":201}"#,
        "\n",
        r#"{"ts":1646861403.5,"request":{"method":"GET","host":"h","uri":"/a"},"size":0,"status":304}"#,
        "\n",
    );
    let trace = Trace::from_bytes("caddy.log", text.into(), &options()).unwrap();
    assert_eq!((trace.format(), trace.fields().time, trace.fields().size), (Format::JsonLog, true, true));
    let (requests, skipped) = read(&trace, Clock::Timestamps).unwrap();
    let found: Vec<(u64, u64)> = requests.iter().map(|request| (request.time.0, request.size)).collect();
    assert_eq!(found, [(1_646_861_401_500 * MS, 7), (1_646_861_403_500 * MS, 7)]);
    assert_eq!(skipped.len(), 2);
    assert!(skipped[0].0.starts_with("lines without a request (a field"), "{skipped:?}");
    let error = triples("stdin", format!("{text}{{\n"), &options(), Clock::Steps).unwrap_err();
    assert!(error.starts_with("stdin:5: expected a JSON object, got"), "{error}");
}

#[test]
fn cloudfront_logs_are_requests() {
    let text = "#Version: 1.0\n#Fields: date time sc-bytes cs-method cs-uri-stem sc-status cs-uri-query\n\
        2019-12-04\t21:02:31\t392\tGET\t/a\t200\t-\n2019-12-04\t21:02:33\t99\tGET\t/a\t304\t-\n";
    let trace = Trace::from_bytes("E2.2019-12-04-21.d1", text.into(), &options()).unwrap();
    assert_eq!(trace.format(), Format::CloudFront);
    let (requests, _) = read(&trace, Clock::Timestamps).unwrap();
    let found: Vec<(u64, u64)> = requests.iter().map(|request| (request.time.0, request.size)).collect();
    assert_eq!(found, [(1_575_493_351 * S, 392), (1_575_493_353 * S, 392)]);
    // The lines before the first request are no steps.
    assert_eq!(read(&trace, Clock::Steps).unwrap().0[0].time.0, 0);
}
