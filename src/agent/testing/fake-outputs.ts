/** For tests: files below /var/out, in memory. A file exists once it is closed. */
import type { FileStat } from "../../abi/device.ts";
import type { Fd } from "../../abi/ids.ts";

const MOUNT = "/var/out";

export class FakeOutputs {
  readonly files = new Map<string, Uint8Array>();
  /** The bytes that one file can hold; the rest is dropped. */
  limit = Number.POSITIVE_INFINITY;
  readonly #writing = new Map<Fd, { readonly path: string; readonly parts: Uint8Array[] }>();

  static holds(path: string): boolean {
    return path.startsWith(`${MOUNT}/`);
  }

  isOpen(fd: Fd): boolean {
    return this.#writing.has(fd);
  }

  open(fd: Fd, path: string): void {
    this.#writing.set(fd, { path, parts: [] });
  }

  write(fd: Fd, bytes: Uint8Array): void {
    this.#writing.get(fd)?.parts.push(bytes);
  }

  close(fd: Fd): void {
    const file = this.#writing.get(fd);
    this.#writing.delete(fd);
    if (file !== undefined) this.files.set(file.path, Buffer.concat(file.parts).subarray(0, this.limit));
  }

  stat(path: string): FileStat {
    const size = this.files.get(path)?.byteLength ?? 0;
    return { name: path.slice(MOUNT.length + 1), size, isDevice: false, devicePath: MOUNT };
  }
}
