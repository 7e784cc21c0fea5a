//! The formats of request logs, captures and job logs: how each is recognised, what it holds, and an example.

use trueplane_fair::workload::LogFormat;
use trueplane_trace::Format;

/// What people have to know of a format besides what its declaration says.
pub(super) struct Described {
    /// How files in this format are recognised.
    pub(super) known_by: &'static str,
    /// What a file has to hold.
    pub(super) holds: &'static str,
    /// The first lines of a file; empty for formats that are not text.
    pub(super) example: &'static str,
}

/// A request log or a capture.
pub(super) fn request_log(format: Format) -> Described {
    match format {
        Format::Csv => Described {
            known_by: "names in .csv or .tsv, and text that is nothing else",
            holds: "a column of keys; columns of times, sizes and fetch times if there are any, found by their names or by --columns",
            example: "time_ms,key,size\n0,/index.html,2326\n12,/logo.png,8192\n",
        },
        Format::OracleGeneral => Described {
            known_by: "names in .oracleGeneral or .oracleGeneral.bin, and plausible records in .bin",
            holds: "for each request: time in seconds (u32), key (u64), size in bytes (u32), next access (i64)",
            example: "",
        },
        Format::Twitter => Described {
            known_by: "names that begin as cluster12 does, and seven cells in the first line",
            holds: "time in seconds, key, sizes of key and value in bytes, client, operation, TTL in seconds",
            example: "0,nz:u:eeW511W3dz3H3d59d3ec,19,154,1,get,0\n1,q:q:1:8WTfjZU14ee,15,213,4,get,0\n",
        },
        Format::Lis => Described {
            known_by: "names in .lis",
            holds: "first page, number of pages, and two numbers that are not read; no times, so that every page is a step",
            example: "1234 4 0 1\n5678 1 0 2\n",
        },
        Format::Pcap => Described {
            known_by: "the first four bytes, and names in .pcap, .pcapng or .cap",
            holds: "packets of IPv4 or IPv6; as a request log, every packet is a request for its flow (or --key)",
            example: "",
        },
        Format::AccessLog => Described {
            known_by: "lines in the Common or Combined Log Format",
            holds: "time in brackets, request line in quotes, status, bytes sent",
            example: "127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /logo.png HTTP/1.1\" 200 2326\n",
        },
        Format::JsonLog => Described {
            known_by: "a JSON object with the names of a web server in every line",
            holds: "time, method, URI, status and bytes sent, by the names of nginx, Caddy or Envoy; fetch times if there is upstream_response_time (nginx) or origin_time (trueplane)",
            example: "{\"msec\":\"1728568536.123\",\"request_method\":\"GET\",\"request_uri\":\"/logo.png\",\"status\":\"200\",\"body_bytes_sent\":\"2326\"}\n",
        },
        Format::CloudFront => Described {
            known_by: "a line that begins with #Fields:",
            holds: "date and time, cs-method, cs-uri-stem, sc-status and sc-bytes",
            example: "#Version: 1.0\n#Fields: date time sc-bytes cs-method cs-uri-stem sc-status\n2019-12-04\t21:02:31\t392\tGET\t/logo.png\t200\n",
        },
    }
}

/// A log of jobs.
pub(super) fn job_log(format: LogFormat) -> Described {
    match format {
        LogFormat::Csv => Described {
            known_by: "the names of its columns",
            holds: "submit, duration or finish (seconds), user, and a column for every resource",
            example: "submit,duration,user,cpu,memory\n0,60,ann,1,0.5\n",
        },
        LogFormat::Google2011 => Described {
            known_by: "a folder, and lines without a header of 13 cells",
            holds: "parts of task_events as Google publishes them",
            example: "",
        },
        LogFormat::Alibaba2023 => Described {
            known_by: "the names of its columns",
            holds: "the file openb_pod_list as Alibaba publishes it",
            example: "",
        },
        LogFormat::Slurm => Described {
            known_by: "the names of its columns",
            holds: "what sacct --parsable2 prints with JobID, User, Submit, Start, End and AllocTRES",
            example: "JobID|User|Submit|Start|End|AllocTRES\n7|ann|2026-01-31T12:00:00|2026-01-31T12:05:00|2026-01-31T13:05:00|cpu=4,mem=16G\n",
        },
        LogFormat::Swf => Described {
            known_by: "18 numbers in a line, or comments that begin with semicolons before lines without",
            holds: "logs of the Parallel Workloads Archive",
            example: "; UnixStartTime: 0\n1 0 30 60 4 -1 -1 4 -1 -1 1 12 1 -1 1 -1 -1 -1\n",
        },
        LogFormat::Kubernetes => Described {
            known_by: "JSON, and the kind Pod of its objects",
            holds: "what kubectl get pods -A -o json prints, once or several times one after the other",
            example: "{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"job\",\"namespace\":\"ann\",\"creationTimestamp\":\"2026-01-31T12:00:00Z\"},\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"500m\"}}}]},\"status\":{\"phase\":\"Running\",\"startTime\":\"2026-01-31T12:05:00Z\"}}]}\n",
        },
        LogFormat::Kueue => Described {
            known_by: "JSON, and the kind Workload of its objects",
            holds: "what kubectl get workloads -A -o json prints, once or several times one after the other",
            example: "",
        },
        LogFormat::Alibaba2025 => Described {
            known_by: "the names of its columns",
            holds: "the file disaggregated_DLRM_trace as Alibaba publishes it",
            example: "",
        },
    }
}

#[cfg(test)]
mod tests {
    use trueplane_trace::{Clock, Trace, TraceOptions};

    use super::*;

    #[test]
    fn examples_are_recognised_and_read() {
        let mut read = 0;
        for &format in Format::ALL {
            let Described { known_by, holds, example } = request_log(format);
            assert!(!known_by.is_empty() && !holds.is_empty(), "{format}");
            if example.is_empty() {
                continue;
            }
            // Those two need a name.
            let name = match format {
                Format::Lis => "log.lis",
                Format::Twitter => "cluster12",
                _ => "log",
            };
            let trace = Trace::from_bytes(name, example.into(), &TraceOptions::default()).unwrap();
            assert_eq!(trace.format(), format, "{example}");
            let mut requests = Vec::new();
            assert!(trace.reader(Clock::Steps).unwrap().next_chunk(&mut requests).unwrap(), "{format}");
            read += 1;
        }
        assert_eq!(read, Format::ALL.len() - 2, "two formats are not text");
    }
}
