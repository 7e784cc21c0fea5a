//! The Helm chart, which must fit the manifests that it takes from the folder of the kustomization.

use std::collections::BTreeSet;
use std::fs;

use crate::root;

fn read(name: &str) -> String {
    fs::read_to_string(root().join("packaging/kubernetes").join(name)).unwrap()
}

/// The texts in quotes after each `before`.
fn quoted(text: &str, before: &str) -> Vec<String> {
    let parts = text.split(before).skip(1);
    let quoted = parts.map(|part| part.strip_prefix(" \"").unwrap().split('"').next().unwrap());
    quoted.map(|text| text.replace("\\n", "\n")).collect()
}

/// The value of a line `key: value`.
fn value<'t>(text: &'t str, key: &str) -> &'t str {
    let value = |line: &'t str| line.trim_start().strip_prefix(key)?.strip_prefix(": ");
    text.lines().find_map(value).unwrap_or_else(|| panic!("{key} in {text}"))
}

#[test]
fn the_chart_fits_its_manifests() {
    let (template, values, kustomization) =
        (read("templates/manifests.yaml"), read("values.yaml"), read("kustomization.yaml"));
    let resources = kustomization.lines().filter_map(|line| line.strip_prefix("- "));
    let resources: BTreeSet<_> =
        resources.filter(|name| name.ends_with(".yaml")).map(str::to_owned).collect();
    let mut taken: BTreeSet<_> = quoted(&template, ".Files.Get").into_iter().collect();
    // Helm makes the namespace itself.
    taken.insert("namespace.yaml".to_owned());
    assert_eq!(taken, resources, "the manifests of the chart and of the kustomization");

    for action in template.split("{{").filter(|action| action.contains(".Files.Get")) {
        let manifest = read(&quoted(action, ".Files.Get")[0]);
        for replaced in quoted(action, "replace") {
            assert!(manifest.contains(&replaced), "{replaced:?} in what {action} replaces");
        }
    }
    let used = template.split(".Values.").skip(1);
    let used: BTreeSet<_> =
        used.map(|part| part.split(|c: char| !c.is_alphanumeric()).next().unwrap()).collect();
    let set = values.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
    assert_eq!(used, set.map(|(key, _)| key).collect(), "values that are used, and that are set");

    let (deployment, version) = (read("deployment.yaml"), env!("CARGO_PKG_VERSION"));
    assert_eq!(value(&values, "replicas"), value(&deployment, "replicas"));
    let options = value(&values, "options").trim_matches(['[', ']']);
    assert!(
        value(&deployment, "args").starts_with(&format!("[fair, admit, {options}, --listen")),
        "{options}"
    );
    let image = format!("{}:{}", value(&kustomization, "newName"), value(&kustomization, "newTag"));
    assert_eq!(
        (value(&values, "image"), image),
        (format!("trueplane:{version}").as_str(), format!("trueplane:{version}"))
    );
    let chart = read("Chart.yaml");
    assert_eq!([value(&chart, "version"), value(&chart, "appVersion")], [version; 2]);
}
