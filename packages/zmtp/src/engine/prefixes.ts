/** Who asked for which prefix, looked up by what begins with them: 29/PUBSUB, "filtering". */

class Node<One> {
  /** The bytes between the parent and here. */
  label: Uint8Array;
  children = new Map<number, Node<One>>();
  readonly ones = new Set<One>();

  constructor(label: Uint8Array) {
    this.label = label;
  }
}

/**
 * A tree of prefixes whose edges are as long as can be: at most two nodes per prefix, and looking up costs what the topic is
 * long, however many there are. Each may hold a prefix once.
 */
export class Prefixes<One> {
  readonly #root = new Node<One>(new Uint8Array(0));

  /** Adds a prefix; does nothing when it is there. Keeps no part of `prefix`. Returns true for the first who asks for it. */
  add(prefix: Uint8Array, one: One): boolean {
    let node = this.#root;
    for (let at = 0; at < prefix.length;) {
      const byte = prefix[at] as number;
      const child = node.children.get(byte);
      if (child === undefined) {
        const leaf = new Node<One>(prefix.slice(at));
        node.children.set(byte, leaf);
        node = leaf;
        break;
      }
      const shared = sharedBytes(child.label, prefix, at);
      at += shared;
      node = shared === child.label.length ? child : split(node, child, shared);
    }
    const isFirst = node.ones.size === 0;
    node.ones.add(one);
    return isFirst;
  }

  /** Takes a prefix back; does nothing when it is not there. Returns true for the last who asked for it. */
  remove(prefix: Uint8Array, one: One): boolean {
    let grandparent: Node<One> | undefined;
    let parent: Node<One> | undefined;
    let node = this.#root;
    for (let at = 0; at < prefix.length; at += node.label.length) {
      const child = node.children.get(prefix[at] as number);
      if (child === undefined || sharedBytes(child.label, prefix, at) < child.label.length) return false;
      grandparent = parent;
      parent = node;
      node = child;
    }
    const wasThere = node.ones.delete(one);
    if (node.ones.size > 0) return false;
    if (parent === undefined) return wasThere;
    if (node.children.size === 0) {
      parent.children.delete(node.label[0] as number);
      if (grandparent !== undefined) merge(parent);
    } else merge(node);
    return wasThere;
  }

  /** Calls `visit` for each prefix that the topic begins with, shortest first. */
  match(topic: Uint8Array, visit: (one: One) => void): void {
    let node = this.#root;
    for (let at = 0; ; at += node.label.length) {
      node.ones.forEach(visit);
      const next: Node<One> | undefined = at < topic.length ? node.children.get(topic[at] as number) : undefined;
      if (next === undefined || sharedBytes(next.label, topic, at) < next.label.length) return;
      node = next;
    }
  }
}

/** How far the label goes along with the bytes from `at` on. */
function sharedBytes(label: Uint8Array, bytes: Uint8Array, at: number): number {
  const most = Math.min(label.length, bytes.length - at);
  let shared = 0;
  while (shared < most && label[shared] === bytes[at + shared]) shared++;
  return shared;
}

/** Puts a node between both, after so many bytes of the child's label. */
function split<One>(parent: Node<One>, child: Node<One>, bytes: number): Node<One> {
  const between = new Node<One>(child.label.slice(0, bytes));
  parent.children.set(between.label[0] as number, between);
  child.label = child.label.slice(bytes);
  between.children.set(child.label[0] as number, child);
  return between;
}

/** Makes one node of two where nobody asked for the first and only the second follows. */
function merge<One>(node: Node<One>): void {
  if (node.ones.size > 0 || node.children.size !== 1) return;
  for (const child of node.children.values()) {
    const label = new Uint8Array(node.label.length + child.label.length);
    label.set(node.label);
    label.set(child.label, node.label.length);
    node.label = label;
    node.children = child.children;
    child.ones.forEach((one) => node.ones.add(one));
  }
}
