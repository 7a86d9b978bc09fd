import { Fault, type WireError } from "../../abi/errors.ts";

/** What the daemon refused, as it came over the wire. */
export class WireFault extends Fault {
  readonly wire: WireError;
  constructor(wire: WireError) {
    super({ code: wire.code, message: wire.message, device: wire.device, hint: wire.hint });
    this.wire = wire;
  }
  override place(): string {
    const { syscall, pid } = this.wire;
    if (syscall === undefined) return "";
    return pid === undefined ? syscall : `PID ${pid} ${syscall}`;
  }
}
