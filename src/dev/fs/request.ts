/** Parses a request of /dev/fs and determines its effects. */
import * as z from "zod";
import type { WritePlan } from "../../abi/device.ts";
import type { Effect, EffectClass } from "../../abi/effects.ts";
import type { FsRequest } from "../../abi/ops/fs.ts";
import { driverError } from "../driver-error.ts";
import { otherPath } from "./path.ts";

const { exactOptional: may } = z;
const count = z.int().min(0);
const text = z.string();
const flag = may(z.boolean());
const digest = z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in hex");
/** The name of a ripgrep file type. */
const typeName = z.string().regex(/^[A-Za-z0-9_+-]{1,64}$/, "must be a file type");

const SHAPES = {
  read: z.strictObject({ op: z.literal("read"), offset: may(count), length: may(count) }),
  write: z.strictObject({
    op: z.literal("write"),
    content: text,
    encoding: may(z.enum(["utf8", "base64"])),
    append: flag,
    expect: may(digest.nullable()),
    mkdirs: flag,
    part: may(z.strictObject({ at: count, length: count })),
  }),
  mkdir: z.strictObject({ op: z.literal("mkdir") }),
  remove: z.strictObject({ op: z.literal("remove") }),
  rename: z.strictObject({ op: z.literal("rename"), to: text }),
  stat: z.strictObject({ op: z.literal("stat") }),
  pdf: z.strictObject({ op: z.literal("pdf"), first: may(count.min(1)), last: may(count.max(100_000)) }),
  list: z.strictObject({
    op: z.literal("list"),
    depth: may(count.min(1).max(64)),
    hidden: flag,
    ignored: flag,
    ignore: may(z.array(text).max(1_000)),
    limit: may(count.max(100_000)),
  }),
  grep: z.strictObject({
    op: z.literal("grep"),
    pattern: text,
    output: z.enum(["content", "files", "count"]),
    include: may(text),
    context: may(count.max(1_000)),
    literal: flag,
    case_insensitive: flag,
    multiline: flag,
    type: may(typeName),
    no_ignore: flag,
  }),
  files: z.strictObject({
    op: z.literal("files"),
    glob: may(text),
    no_ignore: flag,
    offset: may(count),
    limit: may(count),
  }),
} as const satisfies Record<FsRequest["op"], z.ZodType>;

export function parseRequest(bytes: Uint8Array): FsRequest {
  const value = parseObject(bytes);
  const op = "op" in value ? value.op : undefined;
  if (typeof op !== "string" || !isOp(op)) {
    const known = Object.keys(SHAPES).join(", ");
    throw driverError("Write", "INVALID", `fs: unknown op: ${JSON.stringify(op)}. Known: ${known}`);
  }
  const parsed = SHAPES[op].safeParse(value);
  if (parsed.success) return checkPart(parsed.data);
  const issue = parsed.error.issues[0];
  const place = [op, ...(issue?.path ?? [])].map(String).join(".");
  throw driverError("Write", "INVALID", `fs: ${place}: ${issue?.message ?? "invalid"}`);
}

/** Writing a part requires `expect`: an offset has no meaning in an unknown file. */
function checkPart(request: FsRequest): FsRequest {
  if (request.op !== "write" || request.part === undefined) return request;
  if (typeof request.expect === "string" && request.append !== true) return request;
  throw driverError("Write", "INVALID", "fs: write.part: needs expect, and no append");
}

function isOp(op: string): op is FsRequest["op"] {
  return Object.hasOwn(SHAPES, op);
}

function parseObject(bytes: Uint8Array): object {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // reported below
  }
  throw driverError("Write", "INVALID", 'fs: a request is one JSON object, such as {"op":"stat"}');
}

/** The opened path, and the questions that a plan asks about the host. */
export interface Look {
  readonly path: string;
  readonly cwd: string;
  /** True if a write would replace a file. */
  exists(path: string): boolean;
  /** The path with the links of its directory resolved, but not its last name. */
  entryOf(path: string): string;
}

export function planOf(request: FsRequest, { path, cwd, exists, entryOf }: Look): WritePlan {
  const write = (at: string): Effect => ({
    kind: "write",
    path: at,
    change: exists(at) ? "modify" : "create",
  });
  const withEntry = (at: string) => [...new Set([at, entryOf(at)])];
  // the entry itself is removed: for a link whose directory is itself behind a link, neither the path nor its target
  // names it
  const removed = withEntry(path).map((at): Effect => ({ kind: "write", path: at, change: "delete" }));
  const of = (effectClass: EffectClass, ...effects: Effect[]): WritePlan => ({
    effects,
    effectClass,
    tool: "fs",
  });
  switch (request.op) {
    case "read":
    case "pdf":
    case "stat":
      return { ...of("none", { kind: "read", path }), parallel: true };
    case "list":
      // depth 1 reads only the directory, like a plain read of it
      if (request.depth === 1) return { ...of("none", { kind: "read", path }), parallel: true };
      return { ...of("none", { kind: "read", path, subtree: true }), parallel: true };
    case "grep":
    case "files":
      return { ...of("none", { kind: "read", path, subtree: true }), parallel: true };
    case "write":
      return of("probe", write(path));
    case "mkdir":
      return of("probe", { kind: "write", path, change: "create" });
    case "remove":
      return of("probe", ...removed);
    case "rename":
      return of("probe", ...removed, ...withEntry(otherPath(request.to, cwd)).map(write));
  }
}
