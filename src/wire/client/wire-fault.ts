import { Fault, type WireError } from "../../abi/errors.ts";

/** A refusal by the daemon, as received over the wire. */
export class WireFault extends Fault {
  readonly wire: WireError;
  constructor(wire: WireError & { readonly details?: object }) {
    const { code, message, device, hint, fact, details } = wire;
    super({ code, message, device, hint, fact, ...(details === undefined ? {} : { details }) });
    this.wire = wire;
  }
  override place(): string {
    const { syscall, pid } = this.wire;
    if (syscall === undefined) return "";
    return pid === undefined ? syscall : `PID ${pid} ${syscall}`;
  }
}
