/** Finds the subscribers whose prefix a topic begins with: 29/PUBSUB, "filtering". */

class Node<One> {
  /** The bytes between the parent and this node. */
  label: Uint8Array;
  /** By the first byte of their labels. Most nodes are leaves with one value: empty maps and sets would be two thirds of the memory. */
  children: Map<number, Node<One>> | undefined;
  #first: One | undefined;
  /** Values besides the first. */
  #others: Set<One> | undefined;

  constructor(label: Uint8Array) {
    this.label = label;
  }

  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  add(one: One): void {
    if (this.#first === undefined) this.#first = one;
    else if (this.#first !== one) (this.#others ??= new Set()).add(one);
  }

  /** Returns true if it was there. */
  delete(one: One): boolean {
    if (this.#first !== one) return this.#others?.delete(one) === true;
    this.#first = undefined;
    for (const other of this.#others ?? []) {
      this.#first = other;
      this.#others?.delete(other);
      break;
    }
    return true;
  }

  has(one: One): boolean {
    return this.#first === one || this.#others?.has(one) === true;
  }

  visit(visit: (one: One) => void): void {
    if (this.#first === undefined) return;
    visit(this.#first);
    this.#others?.forEach(visit);
  }

  adopt(child: Node<One>): void {
    const [first = 0] = child.label;
    this.children ??= new Map();
    this.children.set(first, child);
  }
}

/**
 * A radix tree of values other than `undefined`: at most two nodes per prefix. A lookup takes time proportional to the topic's length, however many prefixes there are. Each node
 * holds a value at most once.
 */
export class Prefixes<One> {
  readonly #root = new Node<One>(new Uint8Array(0));

  /** True if the value is there for exactly this prefix. */
  has(prefix: Uint8Array, one: One): boolean {
    let node = this.#root;
    for (let at = 0; at < prefix.length; at += node.label.length) {
      const child = node.children?.get(prefix[at] as number);
      if (child === undefined || sharedBytes(child.label, prefix, at) < child.label.length) return false;
      node = child;
    }
    return node.has(one);
  }

  /** Adds a value for a prefix; no effect if it is there. Copies `prefix`. Returns true if the prefix is new. */
  add(prefix: Uint8Array, one: One): boolean {
    let node = this.#root;
    for (let at = 0; at < prefix.length;) {
      const byte = prefix[at] as number;
      const child = node.children?.get(byte);
      if (child === undefined) {
        const leaf = new Node<One>(prefix.slice(at));
        node.adopt(leaf);
        node = leaf;
        break;
      }
      const shared = sharedBytes(child.label, prefix, at);
      at += shared;
      node = shared === child.label.length ? child : split(node, child, shared);
    }
    const isFirst = node.isEmpty;
    node.add(one);
    return isFirst;
  }

  /** Removes a value; no effect if it is not there. Returns true if it was the prefix's last value. */
  remove(prefix: Uint8Array, one: One): boolean {
    let grandparent: Node<One> | undefined;
    let parent: Node<One> | undefined;
    let node = this.#root;
    for (let at = 0; at < prefix.length; at += node.label.length) {
      const child = node.children?.get(prefix[at] as number);
      if (child === undefined || sharedBytes(child.label, prefix, at) < child.label.length) return false;
      grandparent = parent;
      parent = node;
      node = child;
    }
    const wasThere = node.delete(one);
    if (!node.isEmpty) return false;
    if (parent === undefined) return wasThere;
    if (node.children === undefined || node.children.size === 0) {
      parent.children?.delete(node.label[0] as number);
      if (grandparent !== undefined) merge(parent);
    } else merge(node);
    return wasThere;
  }

  /** Calls `visit` for each value whose prefix the topic begins with, shortest prefix first. */
  match(topic: Uint8Array, visit: (one: One) => void): void {
    let node = this.#root;
    for (let at = 0; ; at += node.label.length) {
      node.visit(visit);
      const next: Node<One> | undefined = at < topic.length ? node.children?.get(topic[at] as number) : undefined;
      if (next === undefined || sharedBytes(next.label, topic, at) < next.label.length) return;
      node = next;
    }
  }
}

/** How many bytes of the label match the bytes from `at` on. */
function sharedBytes(label: Uint8Array, bytes: Uint8Array, at: number): number {
  const most = Math.min(label.length, bytes.length - at);
  let shared = 0;
  while (shared < most && label[shared] === bytes[at + shared]) shared++;
  return shared;
}

/** Inserts a node between parent and child, after `length` bytes of the child's label. */
function split<One>(parent: Node<One>, child: Node<One>, bytes: number): Node<One> {
  const between = new Node<One>(child.label.slice(0, bytes));
  parent.adopt(between);
  child.label = child.label.slice(bytes);
  between.adopt(child);
  return between;
}

/** Merges a node without values with its only child. */
function merge<One>(node: Node<One>): void {
  if (!node.isEmpty || node.children?.size !== 1) return;
  for (const child of node.children.values()) {
    const label = new Uint8Array(node.label.length + child.label.length);
    label.set(node.label);
    label.set(child.label, node.label.length);
    node.label = label;
    node.children = child.children;
    child.visit((one) => {
      node.add(one);
    });
  }
}
