/**
 * How the old generation of the daemon's heap grows: it is collected once it has grown by a fifth. What V8 chooses itself leaves
 * as much garbage in it as is alive, and --optimize-for-size makes a turn slower. The flag comes when the daemon has loaded what
 * it needs: V8 rejects all compiled code, Node's own modules too, that was made under other flags, which is a fifth of a start.
 */
import { setFlagsFromString } from "node:v8";

/** The time in which a daemon loads most of its modules, and its heap is small. */
const LOADED_MS = 5_000;

export function limitHeapGrowth(exiting: Pick<NodeJS.EventEmitter, "once"> = process): void {
  const limit = (): void => {
    setFlagsFromString("--heap-growing-percent=20");
    // the compiled code that Node keeps at the exit is for the next start, which is without it
    exiting.once("exit", () => setFlagsFromString("--heap-growing-percent=0"));
  };
  setTimeout(limit, LOADED_MS).unref();
}
