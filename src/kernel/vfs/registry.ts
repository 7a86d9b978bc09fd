/**
 * Which device lies behind a path: the longest mounted path that ends at a path boundary. Here every device has a mount
 * path; what processes mount, and unmount again, are MCP servers (mounts.ts).
 */
import type { Device } from "../../abi/device.ts";
import { VfsError } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import { parsePath } from "./path.ts";

export interface Resolved {
  readonly device: Device;
  /** Where it is mounted. */
  readonly mount: string;
  /** The rest of the path with its leading `/`, or ""; a `.` directly after the mount point is kept. */
  readonly subpath: string;
}

export class DeviceRegistry {
  readonly #mounts = new Map<string, Device>();

  /** CONFLICT: the path is taken; INVALID: not a valid path. */
  register(path: string, device: Device): void {
    const mount = canonical(path);
    if (mount === undefined || mount === "/")
      throw failed("Mount", path, "INVALID", `not a mount path: ${path}`);
    if (this.#mounts.has(mount)) throw failed("Mount", mount, "CONFLICT", `path is taken: ${mount}`);
    this.#mounts.set(mount, device);
  }

  unregister(path: string): Device {
    const mount = canonical(path) ?? path;
    const device = this.#mounts.get(mount);
    if (device === undefined) throw failed("Unmount", path, "NOT_FOUND", `not mounted: ${path}`);
    this.#mounts.delete(mount);
    return device;
  }

  /** Is a device registered at exactly this path? */
  has(mount: string): boolean {
    return this.#mounts.has(mount);
  }

  /** Mounted paths, sorted. */
  list(): readonly string[] {
    return [...this.#mounts.keys()].sort();
  }

  resolve(path: string, op: string, pid: Pid): Resolved {
    const parsed = parsePath(path);
    if (parsed === undefined) {
      throw new VfsError({
        op,
        pid,
        device: path.slice(0, 256),
        code: "INVALID",
        message: "not a valid path",
      });
    }
    const { segments, dotBefore } = parsed;
    for (let n = segments.length; n > 0; n--) {
      const mount = `/${segments.slice(0, n).join("/")}`;
      const device = this.#mounts.get(mount);
      if (device === undefined) continue;
      const rest = segments.slice(n).map((segment) => `/${segment}`);
      return { device, mount, subpath: (dotBefore.has(n) ? "/." : "") + rest.join("") };
    }
    throw new VfsError({ op, pid, device: path, code: "NOT_FOUND", message: `device not found: ${path}` });
  }

  /** Closes all devices, in any order; a failure of one does not stop the others. */
  async close(): Promise<void> {
    const devices = [...new Set(this.#mounts.values())];
    this.#mounts.clear();
    await Promise.allSettled(devices.map(async (device) => device.close?.()));
  }
}

function canonical(path: string): string | undefined {
  const parsed = parsePath(path);
  return parsed === undefined ? undefined : `/${parsed.segments.join("/")}`;
}

function failed(
  op: string,
  path: string,
  code: "INVALID" | "CONFLICT" | "NOT_FOUND",
  message: string,
): VfsError {
  return new VfsError({ op, pid: 0 as Pid, device: path, code, message });
}
