/** The keys of model providers that the user has stored. */
import type { Credential, CredentialDriver } from "../../abi/credentials.ts";

/** Where a key is stored. */
export type KeyPlace = "keychain" | "file";

export interface CredentialDesk {
  /** Where they are stored, but for those in the keychain. */
  readonly file: string;
  list(): readonly (readonly [CredentialDriver, Credential])[];
  /** Durable when it resolves. */
  set(driver: CredentialDriver, credential: Credential): Promise<KeyPlace>;
  /** False: none was stored. */
  remove(driver: CredentialDriver): Promise<boolean>;
  /**
   * The environment with the stored keys of the drivers that it does not name. A driver whose server it names gets none:
   * a key goes to the server that it was stored for, and to no other.
   */
  complete(env: Readonly<Record<string, string>>): Record<string, string>;
}
