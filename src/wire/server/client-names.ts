/**
 * The names of clients in sessions: the first connection to use a name owns it. Only a proven user may take over a name
 * that another connection owns.
 */
import { Fault } from "../../abi/errors.ts";

/** Beyond this, the least recently used name is released. */
const MAX_NAMES = 4_096;

export class ClientNames {
  readonly #owners = new Map<string, { readonly connection: WeakRef<object>; readonly isProven: boolean }>();

  /** PERMISSION: another connection owns the name. */
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
