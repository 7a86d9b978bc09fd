/** What the resident memory of a process is made of: by what the system has mapped, and within that by what V8 tells of itself. */
import { readFileSync } from "node:fs";
import type { InsideMemory } from "./inside.ts";

/** Bytes, all of which together are the resident set. */
export type Mapped = Readonly<Record<MappedPart, number>>;
type MappedPart = "program" | "data" | "files" | "heap" | "stacks" | "anonymous";

/** Words and bytes. */
export type MemoryPart = readonly [words: string, bytes: number];

interface Mapping {
  readonly from: number;
  readonly to: number;
  readonly mode: string;
  readonly path: string;
  readonly resident: number;
  /** Pages that differ from those of the file. */
  readonly changed: number;
}

const GUARD_BYTES = 64 * 1024;

export function mappedOf(pid: number): Mapped {
  const sums = { program: 0, data: 0, files: 0, heap: 0, stacks: 0, anonymous: 0 };
  let before: Mapping | undefined;
  for (const mapping of mappingsOf(pid)) {
    const { path, resident, changed } = mapping;
    if (path === "[heap]") sums.heap += resident;
    else if (path === "[stack]" || (path === "" && isGuard(before, mapping))) sums.stacks += resident;
    else if (!path.startsWith("/")) sums.anonymous += resident;
    else if (/\.so[.\d]*$|\/node$/.test(path)) {
      sums.program += resident - changed;
      sums.data += changed;
    } else sums.files += resident;
    before = mapping;
  }
  return sums;
}

/** Each thread's stack has a few pages below it that nobody may touch. */
function isGuard(before: Mapping | undefined, { from, to }: Mapping): boolean {
  if (before === undefined || before.to !== from || before.mode !== "---p") return false;
  const bytes = to - from;
  return before.to - before.from <= GUARD_BYTES && bytes >= 1024 ** 2 && bytes <= 8 * 1024 ** 2;
}

function mappingsOf(pid: number): readonly Mapping[] {
  const entries = readFileSync(`/proc/${pid}/smaps`, "utf8").split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m);
  return entries.map((entry) => {
    const [head = ""] = entry.split("\n");
    const [range = "", mode = "", , , , ...path] = head.split(/ +/);
    const [from = 0, to = 0] = range.split("-").map((address) => Number.parseInt(address, 16));
    const kilobytes = (name: string): number =>
      Number(new RegExp(`^${name}: +(\\d+)`, "m").exec(entry)?.[1] ?? 0) * 1024;
    return {
      from,
      to,
      mode,
      path: path.join(" "),
      resident: kilobytes("Rss"),
      changed: kilobytes("Anonymous"),
    };
  });
}

/** Parts that add up to the resident set. */
export function memoryParts(mapped: Mapped, inside: InsideMemory): readonly MemoryPart[] {
  const held = (name: string): number => inside.spaces.find((space) => space.name === name)?.held ?? 0;
  const others = inside.threads.reduce((sum, thread) => sum + thread.held, 0);
  const heaps = inside.spaces.reduce((sum, space) => sum + space.held, 0) + others;
  const [young, old] = [held("new_space") + held("new_large_object_space"), held("old_space")];
  const code = held("code_space") + held("code_large_object_space");
  const large = held("large_object_space");
  return [
    ["program and libraries, as other Nodes have them", mapped.program],
    ["their own data", mapped.data],
    ["V8: new objects", young],
    ["V8: old objects", old],
    ["V8: large objects", large],
    ["V8: machine code", code],
    ["V8: bytecode, and the rest of its heap", heaps - others - young - old - large - code],
    ["V8: heap of the thread that writes", others],
    ["heap of the C library", mapped.heap],
    ["large pieces: buffers, wasm, SQLite, compiler", mapped.anonymous - heaps],
    ["stacks", mapped.stacks],
    ["other files: those of the journal", mapped.files],
  ];
}

/** Parts of the former, told by V8 and Node: they lie in the heap of the C library or are large pieces. */
export function withinParts({
  code,
  external,
  arrayBuffers,
  malloced,
  threads,
}: InsideMemory): readonly MemoryPart[] {
  return [
    ["of it: buffers", arrayBuffers],
    ["of it: texts and other things outside the heap", external - arrayBuffers],
    ["of it: V8's parser, compiler and tables", malloced],
    ["of it: texts of scripts", code.sources],
    [
      "of it: what the thread that writes has outside",
      threads.reduce((sum, { external: own }) => sum + own, 0),
    ],
  ];
}
