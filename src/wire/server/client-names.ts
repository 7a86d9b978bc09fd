/**
 * Names that clients go by in sessions: who first uses one has it. Only a proven user may speak under a name that another
 * connection has brought.
 */
import { Fault } from "../../abi/errors.ts";

/** Beyond, the name that was used longest ago is free again. */
const MAX_NAMES = 4_096;

export class ClientNames {
  readonly #owners = new Map<string, { readonly connection: WeakRef<object>; readonly isProven: boolean }>();

  /** PERMISSION: it is another's. */
  claim(name: string, connection: object, isProven: boolean): void {
    const owner = this.#owners.get(name);
    const isOwn = owner?.connection.deref() === connection;
    if (owner !== undefined && !isOwn && !isProven)
      throw new Fault({
        code: "PERMISSION",
        message: `client ${name}: another connection goes by this name`,
      });
    this.#owners.delete(name);
    this.#owners.set(
      name,
      isOwn && owner !== undefined ? owner : { connection: new WeakRef(connection), isProven },
    );
    const [oldest] = this.#owners.keys();
    if (this.#owners.size > MAX_NAMES && oldest !== undefined) this.#owners.delete(oldest);
  }
}
