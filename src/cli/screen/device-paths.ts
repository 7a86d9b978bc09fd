import type { SyscallEventWire } from "../../abi/wire.ts";

/** The most open files remembered of a traced process; beyond this the oldest is dropped. */
const MAX_OPEN = 4096;

/**
 * The paths behind the fds of a traced process, learned from its own calls, for daemons whose events do not name the
 * device. An fd opened before we attached stays unknown.
 */
export class DevicePaths {
  readonly #paths = new Map<unknown, string>();

  /** The event with its device, if known. */
  follow(event: SyscallEventWire): SyscallEventWire {
    const device = event.device ?? this.#paths.get(event.args.fd);
    this.#learn(event);
    return device === undefined ? event : { ...event, device };
  }

  #learn({ syscall, args, result, error }: SyscallEventWire): void {
    if (error !== undefined) return;
    if (syscall === "Close") this.#paths.delete(args.fd);
    if (syscall !== "Open" || typeof result !== "number" || typeof args.path !== "string") return;
    this.#paths.set(result, args.path);
    if (this.#paths.size > MAX_OPEN) this.#paths.delete(this.#paths.keys().next().value);
  }
}
