//! The names by which objects of Kubernetes speak to the controller.

/// The scheduling gate of a pod that waits for its turn.
pub const GATE: &str = "trueplane.dev/fair";

/// Label of a namespace: the tenant to which it belongs. Several namespaces may belong to one tenant.
pub const TENANT: &str = "trueplane.dev/tenant";

/// Annotation of a namespace: the weight of its tenant, a whole number from 1 to 65536; 1 if there is none.
pub const WEIGHT: &str = "trueplane.dev/weight";

/// Annotation of a namespace: the most that its tenant may hold at once, such as `cpu=20,memory=64Gi`.
pub const LIMITS: &str = "trueplane.dev/limits";

/// Label of a pod: the group to which it belongs. All pods of a group are admitted at once.
pub const GROUP: &str = "trueplane.dev/group";

/// Annotation of a pod with a group: how many pods the group has.
pub const GROUP_SIZE: &str = "trueplane.dev/group-size";

/// Label of a job or of a set of jobs, with the value `true`: while it is suspended, it waits for its turn.
pub const JOB: &str = "trueplane.dev/fair";

/// Label that pods of a set of jobs have: the unique number of the set. JobSet writes it.
pub const JOB_SET: &str = "jobset.sigs.k8s.io/jobset-uid";

/// Annotation that the controller writes: when a pod or a job was admitted.
pub const ADMITTED: &str = "trueplane.dev/admitted";

/// Annotation that the controller writes: when a pod was admitted with its whole group.
pub const GROUP_ADMITTED: &str = "trueplane.dev/group-admitted";

/// Group of the API in which tenants and cohorts are.
pub const GROUP_OF_KINDS: &str = "trueplane.dev";

/// The version of tenants and cohorts that the controller reads.
pub const VERSION_OF_KINDS: &str = "v1alpha1";

/// The name by which the controller signs events and leases.
pub const CONTROLLER: &str = "trueplane-fair";
