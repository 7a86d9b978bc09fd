/** Read(fd, length): up to `length` bytes; empty is the end. */
import type { Fd } from "../../abi/ids.ts";
import { abortable, linkSignals } from "../../lib/abort.ts";
import { isWithin } from "../../lib/path.ts";
import type { Core } from "../core.ts";
import type { Call } from "../gate/call.ts";
import { invalid, vfsError } from "../gate/errors.ts";
import { carriedBy } from "../ipc/pipe.ts";
import { addLabels } from "../labels/labels.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";
import { redactedBytes, showSecrets } from "../redact/model-bound.ts";
import { type FdEntry, inLane } from "../vfs/fd-table.ts";

export const read: Call<{ fd: Fd; length: number }, Uint8Array> = {
  name: "Read",
  args: ({ fd, length }) => ({ fd, length }),
  result: (bytes) => bytes.byteLength,
  async run(core, self, { fd, length }, pass) {
    const entry = self.fds.find(fd, "Read");
    pass.trace.device = entry.path;
    pass.trace.traffic = entry.traffic;
    if (entry.flags === 1) throw invalid("Read", self, "fd is not open for reading", entry.path);
    if (!Number.isInteger(length) || length < 1 || length > LIMITS.readBytes) {
      throw invalid("Read", self, `length must be 1 to ${LIMITS.readBytes}: ${length}`, entry.path);
    }
    using linked = linkSignals(pass.signal, entry.closing.signal);
    const { signal } = linked;
    try {
      const reading = inLane(entry, "read", signal, () => entry.file.read(length, signal));
      const bytes = await (entry.file.heedsSignal === true ? reading : abortable(reading, signal));
      if (bytes.byteLength > 0) entry.inflow?.came();
      toldOf(core, self, entry, bytes.byteLength);
      addLabels(core, self, carriedBy(entry.file)?.labels ?? []);
      return pass.scope === null ? presentable(core, self, entry, bytes) : bytes;
    } catch (error) {
      entry.inflow?.failed(error);
      throw vfsError("Read", self, entry.path, error, signal);
    }
  },
};

/** What its program gets goes to its model, and into the record. What a model said is acted upon as it is. */
function presentable(core: Core, self: Process, entry: FdEntry, bytes: Uint8Array): Uint8Array {
  if (self.seed.kind !== "agent" || isWithin("/dev/llm", entry.mount)) return bytes;
  if (entry.isSecret === true) showSecrets(core, self, bytes);
  return redactedBytes(core, self, bytes);
}

/** The first read after a write to a program or a shell ends one tool call on the verbose screen. */
function toldOf(core: Core, self: Process, entry: FdEntry, outBytes: number): void {
  const { lastWrite } = entry;
  if (lastWrite === null) return;
  entry.lastWrite = null;
  const mono = core.ports.clock.mono();
  const durationMs = mono - lastWrite.began;
  const { pid } = self;
  const inBytes = lastWrite.bytes;
  self.tell({ event: "tool", pid, device: entry.path, inBytes, outBytes, durationMs }, mono);
}
