/** Long work on the journal: its progress on a terminal, its report, and Ctrl-C, which cancels it. */
import { Fault } from "../../../abi/errors.ts";
import type { WireStreamLine } from "../../../abi/wire.ts";
import type { Call } from "../../command.ts";
import { daemonVanished } from "../../daemon/vanished.ts";
import { streamFailure } from "../../screen/errors.ts";

/** Runs `work` with a signal that Ctrl-C fires. CANCELLED: it was interrupted. */
export async function untilInterrupted<T>(
  { host }: Pick<Call, "host">,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const unlisten = host.interrupts.listen(() => stop.abort());
  try {
    return await work(stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    throw new Fault({ code: "CANCELLED", message: "interrupted", cause: error });
  } finally {
    unlisten();
  }
}

/** The report at the end of the stream. Throws if the work failed. */
export async function reportOf<T>(
  { console, host }: Pick<Call, "console" | "host">,
  name: string,
  lines: AsyncIterable<WireStreamLine>,
): Promise<T> {
  const isShown = console.isScreen && host.stderr.isTTY === true;
  const show = (text: string): Promise<void> =>
    isShown ? new Promise((done) => host.stderr.write(text, done)) : Promise.resolve();
  try {
    for await (const { type, payload } of lines) {
      if (type === "progress")
        await show(`\r[${name}] ${(payload as { records: number }).records.toLocaleString("en")} records …`);
      if (type === "error") throw streamFailure(payload);
      if (type === "complete") return payload as T;
    }
    throw daemonVanished();
  } finally {
    await show("\r\x1b[K");
  }
}
