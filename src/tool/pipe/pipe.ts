/** pipe: bytes from one process to another, in memory, in order; each end is an fd of its process. */
import * as z from "zod";
import { O_RDONLY } from "../../abi/device.ts";
import { asFd, asPid, type Fd } from "../../abi/ids.ts";
import { linkSignals } from "../../lib/abort.ts";
import { badArguments, failure } from "../failure.ts";
import { readToEnd, withFile } from "../files.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./pipe.md";

const PIPE = /^pipe:\[\d+\]$/;
const READ_BYTES = 64 * 1024;
const MAX_LIST_BYTES = 1024 * 1024;

const Args = z.object({
  op: z.enum(["open", "read", "write", "close"]),
  from: z.int().min(1).optional().describe("open: pid that writes; default: you"),
  to: z.int().min(1).optional().describe("open: pid that reads; default: you"),
  fd: z.int().min(0).optional().describe("read, write, close: your end"),
  data: z.string().min(1).max(60_000).optional().describe("write: the text"),
  timeout: z.int().min(1).max(600_000).default(60_000).describe("read, write: of the wait, ms"),
});
type Args = z.output<typeof Args>;

const Meta = z.strictObject({
  read_fd: z.int().optional(),
  write_fd: z.int().optional(),
  fd: z.int().optional(),
  state: z.enum(["open", "waiting", "ended"]),
});

export const pipe = defineTool({
  name: "pipe",
  hint: "stream bytes between child processes and threads",
  text,
  args: Args,
  meta: Meta,
  destructive: () => false,
  // a process that gets an end is told of it by a message
  effects: ({ op, from, to }) => [
    { kind: "state", path: "/proc/self/fd" },
    ...(op === "open" ? others([from, to]) : []).map(
      (pid) => ({ kind: "message", to: String(pid) }) as const,
    ),
  ],
  view: ({ op, from, to, fd }) => ({
    operation:
      op === "open" ? `pipe from ${from ?? "itself"} to ${to ?? "itself"}` : `${op} fd ${fd} of a pipe`,
    params: {},
  }),
  about: ({ op, from, to, fd }) => (op === "open" ? `${from ?? "self"} → ${to ?? "self"}` : `${op} ${fd}`),
  activity: ({ op, fd }) => (op === "open" ? "Opening a pipe" : `Pipe: ${op} ${fd}`),
  run,
});

function others(pids: readonly (number | undefined)[]): readonly number[] {
  return [...new Set(pids.filter((pid) => pid !== undefined))];
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  if (args.op === "open") return open(args, context);
  const fd = await endOf(args, context);
  const { sys } = context;
  if (args.op === "close") {
    await sys.close(fd);
    return { text: `fd ${fd} is closed.`, meta: { fd, state: "ended" } };
  }
  const work = args.op === "read" ? read : write;
  return (await inTime(args, context, (signal) => work(args, fd, { ...context, signal }))) ?? late(fd);
}

async function open({ from, to }: Args, { sys, pid, signal }: RunContext): Promise<Outcome> {
  const [writer, reader] = [from ?? pid, to ?? pid];
  const { writeFd, readFd } = await sys.pipe(asPid(writer), asPid(reader));
  const told = async (who: number, words: string): Promise<void> => {
    if (who !== pid) await sys.send(asPid(who), new TextEncoder().encode(words), signal);
  };
  await told(
    writer,
    `You have a pipe: write to fd ${writeFd} with the tool pipe. Process ${reader} reads it.`,
  );
  await told(
    reader,
    `You have a pipe: read from fd ${readFd} with the tool pipe. Process ${writer} writes it.`,
  );
  return {
    text: `Process ${writer} writes to its fd ${writeFd}; process ${reader} reads its fd ${readFd}.`,
    meta: { write_fd: writeFd, read_fd: readFd, state: "open" },
  };
}

/** Only ends of pipes: the other files of the process are not for this tool. */
async function endOf({ op, fd }: Args, io: RunContext): Promise<Fd> {
  if (fd === undefined) throw badArguments(`pipe: ${op} needs an fd`);
  const list = await withFile(io, "/proc/self/fd", O_RDONLY, (own) => readToEnd(io, own, MAX_LIST_BYTES));
  const rows = JSON.parse(list.toString("utf8")) as readonly { fd: number; path: string }[];
  const row = rows.find((each) => each.fd === fd);
  if (row === undefined) throw failure("NOT_FOUND", `pipe: no open fd ${fd}`);
  if (!PIPE.test(row.path)) throw failure("INVALID", `pipe: fd ${fd} is not an end of a pipe`);
  return asFd(fd);
}

/** undefined: the time is over. */
async function inTime<T>(
  { timeout }: Args,
  { sys, signal, pid }: RunContext,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  using linked = linkSignals(signal);
  const timer = sys.sleep(timeout, linked.signal, { pid }).then(() => undefined);
  timer.catch(() => {});
  const done = act(linked.signal);
  done.catch(() => {});
  try {
    return await Promise.race([done, timer]);
  } finally {
    linked.abort();
  }
}

async function read(_args: Args, fd: Fd, { sys, signal }: RunContext): Promise<Outcome> {
  const bytes = await sys.read(fd, READ_BYTES, signal);
  if (bytes.byteLength === 0)
    return { text: "", status: "The writer has closed it.", meta: { fd, state: "ended" } };
  return { text: new TextDecoder().decode(bytes), meta: { fd, state: "open" } };
}

async function write({ data }: Args, fd: Fd, { sys, signal }: RunContext): Promise<Outcome> {
  if (data === undefined) throw badArguments("pipe: write needs data");
  const bytes = new TextEncoder().encode(data);
  await sys.write(fd, bytes, signal);
  return { text: `Wrote ${bytes.byteLength} bytes.`, meta: { fd, state: "open" } };
}

function late(fd: Fd): Outcome {
  return { text: `fd ${fd}: nothing happened in that time.`, meta: { fd, state: "waiting" } };
}
