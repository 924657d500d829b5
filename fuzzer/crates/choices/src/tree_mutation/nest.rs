//! Nesting: a part that is in a part of the same symbol, with what is between them many times.

use libafl_bolts::rands::Rand;

use super::Work;
use crate::grammar::Limits;
use crate::tree::{NO_PARENT, Node, Role, Tree};

/// Most parents that are looked at for one of the same symbol.
const MOST_PARENTS: usize = 64;

/// Most parts that are generated to find one that holds itself.
const MOST_GENERATED: usize = 10;

impl Work<'_> {
    /// Repeats what is around a part in a part of the same symbol, up to 64 times.
    pub(super) fn nest(&mut self) -> Option<Tree> {
        let (tree, outer, inner, node) = match self.recursion() {
            Some((outer, inner)) => (None, outer, inner, outer),
            None => {
                let (tree, inner, node) = self.wrapped()?;
                (Some(tree), 0, inner, node)
            }
        };
        let tree = tree.as_ref().unwrap_or(self.tree);
        let around = tree.nodes[outer].length - tree.nodes[inner].length;
        let room = self.room(node).checked_sub(tree.nodes[inner].length as usize)?;
        let copies = self.copies(room.checked_div(around as usize)?)?;
        let new = nested(tree, outer, inner, copies);
        self.replaced(node, new.piece(0))
    }

    /// Draws a part that is in a larger one of the same symbol: the outer one, and the inner one.
    pub(super) fn recursion(&mut self) -> Option<(usize, usize)> {
        for _ in 0..32 {
            let inner = self.rand.below_or_zero(self.tree.nodes.len());
            let Node { symbol, length, .. } = self.tree.nodes[inner];
            let mut found = Vec::new();
            let mut above = self.parents[inner];
            for _ in 0..MOST_PARENTS {
                if above == NO_PARENT || !self.tree.has_parts(inner) {
                    break;
                }
                let outer = &self.tree.nodes[above as usize];
                if outer.symbol == symbol && outer.length > length {
                    found.push(above as usize);
                }
                above = self.parents[above as usize];
            }
            if !found.is_empty() {
                // mostly the nearest
                let number = if self.rand.coinflip(0.7) { 0 } else { self.rand.below_or_zero(found.len()) };
                return Some((found[number], inner));
            }
        }
        None
    }

    /// Generates something around a part by the grammar. Returns its tree, the part in it, and the part in this tree.
    fn wrapped(&mut self) -> Option<(Tree, usize, usize)> {
        let grammar = self.context.grammar?;
        for _ in 0..MOST_GENERATED {
            let node = self.node(|node| self.tree.nodes[node].role == Role::Part)?;
            let symbol = self.tree.nodes[node].symbol;
            let tree = grammar.generate_from(symbol, None, self.rand, &Limits { size: 64, depth: 8 });
            let is_inner =
                |&at: &usize| tree.nodes[at].symbol == symbol && tree.nodes[at].length < tree.nodes[0].length;
            if let Some(inner) = (1..tree.nodes.len()).find(is_inner) {
                let new = tree.with_node_replaced(&tree.parents(), inner, self.tree.piece(node));
                return Some((new, inner, node));
            }
        }
        None
    }
}

/// Makes the outer node with what is around the inner one `times` times.
fn nested(tree: &Tree, outer: usize, inner: usize, times: usize) -> Tree {
    let (whole, part) = (tree.nodes[outer].range(), tree.nodes[inner].range());
    let before = part.start - whole.start;
    let after = whole.end - part.end;
    let nodes_before = &tree.nodes[outer..inner];
    let nodes_after = &tree.nodes[tree.subtree(inner).end..tree.subtree(outer).end];
    let each = nodes_before.len() + nodes_after.len();
    let mut new = Tree {
        bytes: Vec::with_capacity(times * (before + after) + part.len()),
        nodes: Vec::with_capacity(times * each + tree.subtree(inner).len()),
    };
    let moved = |node: &Node, by: usize| Node { start: node.start - whole.start as u32 + by as u32, ..*node };
    for level in 0..times {
        let deeper = times - 1 - level;
        for (number, node) in nodes_before.iter().enumerate() {
            let mut node = moved(node, level * before);
            if tree.subtree(outer + number).contains(&inner) {
                node.length += (deeper * (before + after)) as u32;
                node.nodes += (deeper * each) as u32;
            }
            new.nodes.push(node);
        }
        new.bytes.extend_from_slice(&tree.bytes[whole.start..part.start]);
    }
    new.nodes.extend(tree.nodes[tree.subtree(inner)].iter().map(|node| moved(node, (times - 1) * before)));
    new.bytes.extend_from_slice(&tree.bytes[part.clone()]);
    for level in 0..times {
        new.nodes.extend(nodes_after.iter().map(|node| moved(node, (times - 1) * before + level * after)));
        new.bytes.extend_from_slice(&tree.bytes[part.end..whole.end]);
    }
    new
}
