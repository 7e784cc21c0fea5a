//! Trees of quotas, and what is used of them.

use std::collections::BTreeMap;

use super::quota::Quota;

/// The number of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeId(usize);

/// A node and one resource.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    quota: Quota,
    /// Whether the node or one below it has a quota.
    is_limited: bool,
    /// Its own quota and what its children lend to it.
    subtree: u64,
    /// What a tenant holds; what the children of a cohort use above what is guaranteed to them.
    usage: u64,
}

impl Account {
    /// The amount that nobody else can have.
    fn guaranteed(&self) -> u64 {
        self.quota.lending_limit.map_or(0, |limit| self.subtree.saturating_sub(limit))
    }

    /// The amount that it lends to its parent at most.
    fn lent(&self) -> u64 {
        self.subtree - self.guaranteed()
    }

    /// The amount that it uses of its parent.
    fn used_of_parent(&self, usage: u64) -> u64 {
        usage.saturating_sub(self.guaranteed())
    }

    /// What it may use of its parent above `used`, if the parent has it: what it lends, and what it may borrow.
    fn left_of_parent(&self, used: u64) -> u64 {
        let left = |limit: u64| self.lent().saturating_add(limit).saturating_sub(self.used_of_parent(used));
        self.quota.borrowing_limit.map_or(u64::MAX, left)
    }
}

/// Trees, whose nodes come after their parents.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    resources: usize,
    parents: Vec<Option<NodeId>>,
    /// Of each node, an account for each resource.
    accounts: Vec<Account>,
    /// All nodes of each tree, by its root.
    trees: BTreeMap<NodeId, Vec<NodeId>>,
}

impl Tree {
    /// No tree yet.
    pub(super) fn new(resources: usize) -> Self {
        Self { resources, ..Self::default() }
    }

    /// Adds a node below `parent`. What is missing in `quotas` is nothing of that resource, and borrows and lends without a limit.
    pub(super) fn add(&mut self, parent: Option<NodeId>, quotas: &[Option<Quota>]) -> NodeId {
        let node = NodeId(self.parents.len());
        self.parents.push(parent);
        self.accounts.extend((0..self.resources).map(|resource| {
            let quota = quotas.get(resource).copied().flatten();
            Account { quota: quota.unwrap_or_default(), is_limited: quota.is_some(), ..Account::default() }
        }));
        node
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.parents.len()
    }

    /// Number of resources.
    pub(super) fn resources(&self) -> usize {
        self.resources
    }

    /// All nodes of the tree with this root, each after its parent.
    pub(super) fn nodes_of(&self, root: NodeId) -> &[NodeId] {
        self.trees.get(&root).map_or(&[], Vec::as_slice)
    }

    /// The place of a node and a resource in a list that has one for each.
    pub(super) fn place(&self, NodeId(node): NodeId, resource: usize) -> usize {
        node * self.resources + resource
    }

    fn account(&self, node: NodeId, resource: usize) -> &Account {
        &self.accounts[self.place(node, resource)]
    }

    fn account_mut(&mut self, node: NodeId, resource: usize) -> &mut Account {
        let place = self.place(node, resource);
        &mut self.accounts[place]
    }

    /// The node above.
    pub(super) fn parent(&self, NodeId(node): NodeId) -> Option<NodeId> {
        self.parents[node]
    }

    /// Sums up what nodes have with what their children lend to them. Call it once, after all were added.
    pub(super) fn sum(&mut self) {
        for node in (0..self.parents.len()).rev().map(NodeId) {
            for resource in 0..self.resources {
                let account = self.account_mut(node, resource);
                account.subtree = account.subtree.saturating_add(account.quota.nominal);
                let (lent, is_limited) = (account.lent(), account.is_limited);
                if let Some(parent) = self.parent(node) {
                    let above = self.account_mut(parent, resource);
                    above.subtree = above.subtree.saturating_add(lent);
                    above.is_limited |= is_limited;
                }
            }
        }
        for node in (0..self.parents.len()).map(NodeId) {
            self.trees.entry(self.root(node)).or_default().push(node);
        }
    }

    /// Whether `above` is `node`, or is above it.
    pub(super) fn is_at_or_above(&self, above: NodeId, mut node: NodeId) -> bool {
        while node != above {
            let Some(parent) = self.parent(node) else { return false };
            node = parent;
        }
        true
    }

    /// The node at the top of the tree.
    pub(super) fn root(&self, mut node: NodeId) -> NodeId {
        while let Some(parent) = self.parent(node) {
            node = parent;
        }
        node
    }

    /// Number of nodes from `node` up to `above`.
    pub(super) fn steps(&self, mut node: NodeId, above: NodeId) -> usize {
        let mut steps = 0;
        while node != above
            && let Some(parent) = self.parent(node)
        {
            node = parent;
            steps += 1;
        }
        steps
    }

    /// The leaf uses so much more.
    pub(super) fn take(&mut self, leaf: NodeId, amounts: &[u64]) {
        self.change(leaf, amounts, u64::saturating_add);
    }

    /// The leaf uses so much less.
    pub(super) fn give(&mut self, leaf: NodeId, amounts: &[u64]) {
        self.change(leaf, amounts, u64::saturating_sub);
    }

    fn change(&mut self, leaf: NodeId, amounts: &[u64], with: impl Fn(u64, u64) -> u64) {
        for (resource, &amount) in amounts.iter().enumerate() {
            let (mut node, mut amount) = (leaf, amount);
            while amount > 0 {
                let account = self.account_mut(node, resource);
                let (before, after) = (account.usage, with(account.usage, amount));
                account.usage = after;
                // Above goes what is beyond the guarantee.
                amount = account.used_of_parent(after).abs_diff(account.used_of_parent(before));
                let Some(parent) = self.parent(node) else { break };
                node = parent;
            }
        }
    }

    /// The amount that the leaf can have more than it has, and the node that allows no more.
    pub(super) fn available(&self, leaf: NodeId, resource: usize) -> (u64, NodeId) {
        self.left(leaf, resource, |account| account.usage)
    }

    /// Whether any quota is set in the tree of the node.
    pub(super) fn is_limited(&self, node: NodeId, resource: usize) -> bool {
        self.account(self.root(node), resource).is_limited
    }

    /// Whether the node would borrow nothing if it used so much more.
    pub(super) fn is_within(&self, node: NodeId, resource: usize, more: u64) -> bool {
        let account = self.account(node, resource);
        account.usage.saturating_add(more) <= account.subtree
    }

    /// What is left of the quota of the node if it used so much more.
    pub(super) fn left_of_quota(&self, node: NodeId, resource: usize, more: u64) -> u64 {
        let account = self.account(node, resource);
        account.subtree.saturating_sub(account.usage.saturating_add(more))
    }

    /// Whether the node may use so much more, as far as that is its own matter: a root has its quota, and others may borrow up to a limit.
    pub(super) fn may_use(&self, node: NodeId, resource: usize, more: u64) -> bool {
        if self.parent(node).is_none() {
            return self.is_within(node, resource, more);
        }
        let account = self.account(node, resource);
        let used = account.used_of_parent(account.usage.saturating_add(more));
        account.quota.borrowing_limit.is_none_or(|limit| used <= account.lent().saturating_add(limit))
    }

    /// What the node would use of its parent for so much more, after it used `before` more.
    pub(super) fn passed(&self, node: NodeId, resource: usize, before: u64, more: u64) -> u64 {
        let account = self.account(node, resource);
        let before = account.usage.saturating_add(before);
        account.used_of_parent(before.saturating_add(more)) - account.used_of_parent(before)
    }

    /// The amount that the leaf could have if nobody used anything, and the node that allows no more.
    pub(super) fn most(&self, leaf: NodeId, resource: usize) -> (u64, NodeId) {
        self.left(leaf, resource, |_| 0)
    }

    fn left(&self, leaf: NodeId, resource: usize, usage: impl Fn(&Account) -> u64) -> (u64, NodeId) {
        // From the leaf upwards, an amount is bounded by each node, and what is guaranteed on the way comes on top of what is above.
        let (mut guaranteed, mut least, mut at) = (0u64, u64::MAX, leaf);
        let mut node = leaf;
        loop {
            let account = self.account(node, resource);
            let used = usage(account);
            let Some(parent) = self.parent(node) else {
                let left = if account.is_limited { account.subtree.saturating_sub(used) } else { u64::MAX };
                let with = guaranteed.saturating_add(left);
                return if with < least { (with, node) } else { (least, at) };
            };
            let free = account.guaranteed().saturating_sub(used);
            guaranteed = guaranteed.saturating_add(free);
            let with = guaranteed.saturating_add(account.left_of_parent(used));
            if with < least {
                (least, at) = (with, node);
            }
            node = parent;
        }
    }
}
