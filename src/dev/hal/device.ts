/** The file of a device, `/dev/hal/<id>`: open it is a claim, shared if it only reads, and released when it closes. */
import {
  type Device,
  type FileStat,
  O_RDONLY,
  O_WRONLY,
  type OpenFile,
  type OpenFlag,
} from "../../abi/device.ts";
import type { Effect } from "../../abi/effects.ts";
import { HAL_MOUNT, type Hal, type HalClaim, type HalDriver } from "../../kernel/ports/hal.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";

export function halDevice(hal: Hal, driver: HalDriver): Device {
  const { identity, isHarmless } = driver;
  const { id } = identity;
  const path = `${HAL_MOUNT}/${id}`;
  const stat: FileStat = { name: id, size: 0, isDevice: true, devicePath: path };
  return {
    name: id,
    traffic: "byte",
    async open(subpath, flags, { pid, signal }) {
      if (flags !== O_RDONLY && !identity.modes.includes("write"))
        throw driverError("Open", "PERMISSION", `${path} is read-only`);
      const claim = await hal.open({ device: id, name: nameOf(path, subpath), pid, flags, signal });
      return new HalFile(claim, stat);
    },
    // whatever the user has started may use what its token names: no agent stands behind it
    openEffects: (_subpath, flags, { mode }) =>
      isHarmless || mode === undefined ? [{ kind: "state", path }] : effectsOf(path, flags),
    async stat(subpath) {
      if (subpath !== "") throw driverError("Stat", "NOT_FOUND", `file not found: ${path}${subpath}`);
      return stat;
    },
  };
}

function nameOf(path: string, subpath: string): string {
  const name = subpath.slice(1);
  if (name === "" || (name.startsWith("@") && !name.includes("/"))) return name;
  throw driverError("Open", "NOT_FOUND", `file not found: ${path}${subpath}`);
}

function effectsOf(path: string, flags: OpenFlag): readonly Effect[] {
  const read: Effect = { kind: "read", path };
  const write: Effect = { kind: "write", path, change: "modify" };
  if (flags === O_RDONLY) return [read];
  return flags === O_WRONLY ? [write] : [read, write];
}

class HalFile implements OpenFile {
  /** A read that is given up takes nothing. */
  readonly heedsSignal = true;
  readonly #claim: HalClaim;
  readonly #stat: FileStat;
  #isAtEnd = false;

  constructor(claim: HalClaim, stat: FileStat) {
    this.#claim = claim;
    this.#stat = stat;
  }

  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    throwIfAborted(signal, "Read");
    // a file ends once, whoever reads by a claim begins anew
    if (this.#isAtEnd && this.#claim.reading === undefined) return new Uint8Array(0);
    const { data, isEnd } = await this.#claim.read(length, signal);
    this.#isAtEnd = isEnd;
    return data;
  }

  async write(data: Uint8Array, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    throwIfAborted(signal, "Write");
    await this.#claim.write(data, signal);
  }

  close(): Promise<void> {
    return this.#claim.end("released");
  }

  async stat(): Promise<FileStat> {
    return this.#stat;
  }
}
