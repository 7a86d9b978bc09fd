/**
 * /var/out: the stored outputs of a process. A process lists and reads its own, and stores whole results under the id
 * of a call. Under the lasting name of an agent, it and those above it read what that agent has said; this is not listed.
 */
import {
  type Caller,
  type Device,
  type FileStat,
  O_RDONLY,
  O_RDWR,
  O_WRONLY,
  type OpenFile,
} from "../../abi/device.ts";
import type { AgentWords, ProcView } from "../../kernel/ports/proc-view.ts";
import { jsonBytes } from "../answer.ts";
import { driverError, type FileOp, hostError, throwIfAborted } from "../driver-error.ts";
import { openReader } from "../fs/byte-files.ts";
import { snapshotFile } from "../snapshot.ts";
import { agentFile, sizeOf } from "./agent-file.ts";
import { MAX_FILE_BYTES, OUT_MOUNT, type OutputFile, type OutputStore } from "./output-store.ts";

const AGENT = /^agent-[0-9a-f]{12}$/;

export function outDevice(
  store: OutputStore,
  agents: Pick<ProcView, "words">,
  maxBytes = MAX_FILE_BYTES,
): Device {
  const wordsOf = async (name: string, { pid }: Caller, op: FileOp): Promise<AgentWords> => {
    const words = await agents.words(pid, name);
    if (words !== undefined) return words;
    throw driverError(op, "NOT_FOUND", `no agent of this name at or below this one: ${OUT_MOUNT}/${name}`);
  };
  const stat = async (subpath: string, caller: Caller): Promise<FileStat> => {
    if (subpath === "") return outStat("out", 0);
    const name = nameOf(subpath, "Stat");
    if (AGENT.test(name)) return outStat(name, await sizeOf(await wordsOf(name, caller, "Stat"), maxBytes));
    store.hostPath(caller.uuid, name, "Stat");
    const size = store.list(caller.uuid).find((entry) => entry.name === name)?.size ?? 0;
    return outStat(name, size);
  };
  return {
    name: "out",
    traffic: "byte",
    stat,
    async open(subpath, flags, caller) {
      if (subpath === "") return openList(store, flags, caller);
      const name = nameOf(subpath, "Open");
      if (AGENT.test(name)) {
        if (flags !== O_RDONLY) throw driverError("Open", "PERMISSION", `is read-only: ${OUT_MOUNT}/${name}`);
        return agentFile(await wordsOf(name, caller, "Open"), { name, devicePath: OUT_MOUNT }, maxBytes);
      }
      if (flags === O_RDWR) throw driverError("Open", "INVALID", "open it for reading or for writing");
      if (flags === O_WRONLY) return storing(store.openWhole(caller.uuid, name), name, caller.signal);
      const real = store.hostPath(caller.uuid, name, "Open");
      const path = `${OUT_MOUNT}/${name}`;
      return openReader({ path, real, stat: () => stat(subpath, caller) }).catch((error: unknown) => {
        throw hostError("Open", path, error);
      });
    },
    openEffects: (subpath) => [{ kind: "state", path: OUT_MOUNT + subpath }],
  };
}

function openList(store: OutputStore, flags: number, caller: Caller): OpenFile {
  if (flags !== O_RDONLY) throw driverError("Open", "PERMISSION", `${OUT_MOUNT} is read-only`);
  const content = jsonBytes(store.list(caller.uuid));
  return snapshotFile(content, outStat("out", content.byteLength));
}

/** The file is kept at close, or discarded if a write was aborted or the process has ended. */
function storing(output: OutputFile, name: string, owner: AbortSignal): OpenFile {
  let isSpoilt = false;
  let isClosed = false;
  return {
    async read() {
      throw driverError("Read", "INVALID", "the file is open for writing only");
    },
    async write(bytes, act) {
      isSpoilt ||= act.signal.aborted;
      throwIfAborted(act.signal, "Write");
      if (isClosed) throw driverError("Write", "CANCELLED", "the file is closed");
      output.write(bytes);
    },
    async close() {
      isClosed = true;
      if (isSpoilt || owner.aborted) output.discard();
      else output.end();
    },
    stat: async () => outStat(name, output.bytes),
  };
}

function nameOf(subpath: string, op: FileOp): string {
  const name = subpath.slice(1);
  if (name !== "" && !name.includes("/")) return name;
  throw driverError(op, "NOT_FOUND", `output not found: ${OUT_MOUNT}${subpath}`);
}

function outStat(name: string, size: number): FileStat {
  return { name, size, isDevice: false, devicePath: OUT_MOUNT };
}
