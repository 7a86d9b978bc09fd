import { Fault, type WireError } from "../../abi/errors.ts";

/** A refusal by the daemon, as received over the wire. */
export class WireFault extends Fault {
  readonly wire: WireError;
  constructor(wire: WireError) {
    const { code, message, device, hint, fact } = wire;
    super({ code, message, device, hint, fact });
    this.wire = wire;
  }
  override place(): string {
    const { syscall, pid } = this.wire;
    if (syscall === undefined) return "";
    return pid === undefined ? syscall : `PID ${pid} ${syscall}`;
  }
}
