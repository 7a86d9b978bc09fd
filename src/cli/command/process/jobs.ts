import type { WireStreamLine } from "../../../abi/wire.ts";
import { countFlag, pidOf } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid, streamFailure } from "../../screen/errors.ts";
import { jobTable } from "../../screen/table/job-table.ts";
import { safeLines } from "../../screen/text/safe-text.ts";

const USAGE = "crux jobs [pid [job]] [-f] [--from <byte>]";

/** The background commands of agents, and the output of one of them. */
export const jobs: Command = {
  flags: { follow: { type: "boolean", short: "f" }, from: { type: "string" } },
  follows: ({ flags }) => flags.has("follow"),
  run,
};

async function run(call: Call): Promise<number> {
  const [first, job, ...more] = call.args.words;
  if (more.length > 0) throw invalid(`too many words: ${more.join(" ")}`, USAGE);
  const pid = first === undefined ? undefined : pidOf(first, USAGE);
  return pid === undefined || job === undefined ? list(call, pid) : output(call, pid, job);
}

async function list({ console, host }: Call, pid: number | undefined): Promise<number> {
  const client = await host.daemon.ensure();
  const found = await client.request("job.list", pid === undefined ? {} : { pid });
  client.close();
  if (console.mode === "json") await console.data(found);
  else if (console.mode === "quiet") for (const job of found.jobs) await console.line(`${job.pid} ${job.id}`);
  else
    await console.line(found.jobs.length === 0 ? "No jobs." : jobTable(found.jobs, Date.now(), console.room));
  return 0;
}

/** Prints the output unchanged, on a terminal without control sequences. Leaving does not end the job. */
async function output({ args, console, host }: Call, pid: number, job: string): Promise<number> {
  const leaving = new AbortController();
  const unlisten = host.interrupts.listen(() => leaving.abort());
  const client = await host.daemon.ensure(leaving.signal);
  const request = {
    pid,
    job: /^\d+$/.test(job) ? `job-${job}` : job,
    ...(args.flags.has("from") ? { from: countFlag(args, "from") } : {}),
    ...(args.flags.has("follow") ? { follow: true } : {}),
  };
  try {
    const stream = await client.stream("job.output", request, leaving.signal);
    try {
      await printAll(console, stream.lines, host.stdout.isTTY === true);
    } finally {
      stream.close();
    }
    return leaving.signal.aborted ? 130 : 0;
  } catch (error) {
    if (leaving.signal.aborted) return 130;
    throw error;
  } finally {
    unlisten();
  }
}

async function printAll(
  console: Call["console"],
  lines: AsyncIterable<WireStreamLine>,
  isTerminal: boolean,
): Promise<void> {
  const decoder = new TextDecoder();
  for await (const { type, payload } of lines) {
    if (type === "error") throw streamFailure(payload);
    if (type !== "log") continue;
    const { base64 } = (payload as { data: { base64: string } }).data;
    const text = decoder.decode(Buffer.from(base64, "base64"), { stream: true });
    if (console.mode === "json") await console.line(JSON.stringify({ output: text }));
    else await console.raw(isTerminal ? safeLines(text) : text);
  }
}
