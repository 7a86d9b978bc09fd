/** Write(fd, size): hands data to a file. The file says what it would do with it; the guard decides; then it acts. */
import type { Act, WritePlan } from "../../abi/device.ts";
import type { Charge } from "../../abi/effects.ts";
import type { Fd } from "../../abi/ids.ts";
import { linkSignals } from "../../lib/abort.ts";
import { isWithin } from "../../lib/path.ts";
import { hasMark } from "../../lib/redact.ts";
import type { Core } from "../core.ts";
import type { Call, Pass } from "../gate/call.ts";
import { CallTold } from "../gate/call-told.ts";
import { Edited } from "../gate/edited.ts";
import { invalid, vfsError } from "../gate/errors.ts";
import { guard } from "../gate/guard.ts";
import { allowing } from "../gate/permit.ts";
import type { Scope } from "../gate/scope.ts";
import { carriedBy } from "../ipc/pipe.ts";
import { uniteLabels } from "../labels/label-set.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";
import { type FdEntry, inLane } from "../vfs/fd-table.ts";

const HARMLESS: WritePlan = { effects: [], effectClass: "none" };

export const write: Call<{ fd: Fd; data: Uint8Array }, void> = {
  name: "Write",
  holds: true,
  args: ({ fd, data }) => ({ fd, size: data.byteLength }),
  async run(core, self, { fd, data }, pass) {
    const entry = self.fds.find(fd, "Write");
    pass.trace.device = entry.path;
    pass.trace.traffic = entry.traffic;
    if (entry.flags === 0) throw invalid("Write", self, "fd is not open for writing", entry.path);
    if (data.byteLength > LIMITS.writeBytes) {
      throw invalid("Write", self, `${data.byteLength} bytes; at most ${LIMITS.writeBytes}`, entry.path);
    }
    const began = core.ports.clock.mono();
    // The fd's own end counts too: closing it takes back a question that is still open.
    using linked = linkSignals(pass.signal, entry.closing.signal);
    const { signal } = linked;
    // What is permitted is what is done: the caller keeps no hand on the bytes.
    const own = data.slice();
    // What a program does within its own call is not a call of the agent.
    const told = pass.scope === null && isToolLike(entry) ? new CallTold(core, self, entry) : undefined;
    try {
      await inLane(entry, "write", signal, () =>
        writeEdited(core, self, entry, own, { ...pass, signal }, told),
      );
    } catch (thrown) {
      const error = vfsError("Write", self, entry.path, thrown, signal);
      told?.failed(error);
      throw error;
    }
    if (told === undefined) return;
    told.over();
    entry.lastWrite = { bytes: data.byteLength, began };
  },
};

/** Other arguments of a person are decided as if they had come from the program: nothing of the first decision holds. */
async function writeEdited(
  core: Core,
  self: Process,
  entry: FdEntry,
  first: Uint8Array,
  pass: Pass,
  told: CallTold | undefined,
): Promise<void> {
  for (let data = first; ; ) {
    try {
      return await writeGuarded(core, self, entry, data, pass, told);
    } catch (error) {
      if (!(error instanceof Edited)) throw error;
      data = Buffer.from(JSON.stringify(error.input));
      self.log("info", `arguments changed by the user: ${entry.path}`, core.ports.clock.mono());
    }
  }
}

async function writeGuarded(
  core: Core,
  self: Process,
  entry: FdEntry,
  data: Uint8Array,
  pass: Pass,
  told: CallTold | undefined,
): Promise<void> {
  const plan = (await entry.file.plan?.(data)) ?? HARMLESS;
  told?.planned(plan);
  // For the journal, and for who judges. A model request repeats the whole context, which the journal has already.
  const isKept = plan.effects.length > 0 && !plan.effects.some((effect) => effect.kind === "llm");
  const input = isKept ? Buffer.from(data).toString("utf8") : "";
  const effectful = { ...plan, syscall: "Write", device: entry.path, input };
  if (pass.scope === null) checkMarks(self, entry, plan, data);
  const act = (scope: Scope, granted?: Charge): Promise<void> => {
    if (pass.scope === null && scope.isSecret === true) entry.isSecret = true;
    entry.inflow = scope.inflow ?? null;
    const box = carriedBy(entry.file);
    if (box !== undefined) box.labels = uniteLabels(box.labels, self.labels);
    const hands: Act = {
      signal: pass.signal,
      callId: scope.callId,
      sandbox: scope.sandbox ?? null,
      attend: (end) => core.grants.attend(self, allowing(core, self, scope), end),
      ...(scope.env === undefined ? {} : { env: scope.env }),
      ...(scope.isSecret === true ? { showsSecrets: true as const } : {}),
      ...(granted === undefined ? {} : { granted }),
      sys: core.handle(self, scope),
    };
    return entry.file.write(data, hands);
  };
  await guard(core, self, effectful, pass, act, () => entry.file.charge?.());
}

const LASTING: ReadonlySet<string> = new Set(["write", "exec", "network", "mcp"]);

/** Where a mark stands for a secret, the mark would be written instead of it. */
function checkMarks(self: Process, { path }: FdEntry, { effects }: WritePlan, data: Uint8Array): void {
  if (self.seed.kind !== "agent" || !effects.some(({ kind }) => LASTING.has(kind))) return;
  if (!hasMark(Buffer.from(data).toString("utf8"))) return;
  const message =
    "the arguments hold [redacted:…], which stands for a secret that is not known here; it would be put in the secret's place. Leave that part as it is, or name a variable or file that holds the secret";
  throw invalid("Write", self, message, path);
}

function isToolLike(entry: FdEntry): boolean {
  return isWithin("/bin", entry.mount) || entry.mount === "/dev/shell" || entry.mount.startsWith("/mnt/mcp/");
}
