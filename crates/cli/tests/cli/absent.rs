//! What a build without the feature `live` says of the verbs that it lacks.

use crate::common::trueplane;

#[test]
fn verbs_that_need_linux_say_how_to_get_them() {
    for verb in ["limit attach --dev eth0 --classes x", "spray run --nf nat", "fair admit --half-life 1d"] {
        let ended = trueplane(verb);
        assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{verb}");
        assert!(
            ended.stderr.starts_with("error: this trueplane was built without"),
            "{verb}: {}",
            ended.stderr
        );
        assert!(
            ended.stderr.contains("`make build`") && ended.stderr.lines().count() == 1,
            "{verb}: {}",
            ended.stderr
        );
    }
}
