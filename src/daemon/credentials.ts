/**
 * The keys of model providers that the user has stored: in the keychain of the desktop, else in one file of the state
 * directory, readable by the user alone. The file also says which keys the keychain has. The state directory is hidden from
 * every command. Each key is learned as secret before anything is done with it.
 */
import { chmodSync, lstatSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import {
  CREDENTIAL_DRIVERS,
  type Credential,
  type CredentialDriver,
  credentialEnv,
  namesDriver,
} from "../abi/credentials.ts";
import { Fault, messageOf } from "../abi/errors.ts";
import type { CredentialDesk, KeyPlace } from "../kernel/ports/credentials.ts";
import { isNotGiven, writeAtomically } from "./atomic-file.ts";
import type { Keychain } from "./keychain.ts";

const NAME = "credentials.json";
const MAX_BYTES = 64 * 1024;

/** As the file has it. */
type Stored = Partial<Credential> & { readonly place?: "keychain" };

interface Around {
  /** undefined: there is none. */
  readonly keychain?: Pick<Keychain, "read" | "store" | "remove"> | undefined;
  learn(secrets: Iterable<string>): void;
  warn(words: string): void;
  /** Absent: as the host has it. */
  readText?(path: string): string;
}

export class CredentialFile implements CredentialDesk {
  readonly file: string;
  readonly #around: Around;
  #last: ReadonlyMap<CredentialDriver, Credential>;
  /** Those whose key is in the keychain, also where it did not answer. */
  #inKeychain: ReadonlyMap<CredentialDriver, Stored> = new Map();
  #changing: Promise<unknown> = Promise.resolve();
  /** The content of the file makes no sense. */
  #isUnread = false;
  /** Why the host did not give the file; undefined: it did. */
  #notGiven: string | undefined;

  /** A file that makes no sense or cannot be read is reported and counts as empty; the latter is tried again. */
  constructor(stateDir: string, around: Around) {
    this.file = join(stateDir, NAME);
    this.#around = around;
    this.#last = this.#read();
  }

  get #all(): ReadonlyMap<CredentialDriver, Credential> {
    if (this.#notGiven !== undefined) this.#last = this.#read();
    return this.#last;
  }

  list(): readonly (readonly [CredentialDriver, Credential])[] {
    return [...this.#all];
  }

  async set(driver: CredentialDriver, credential: Credential): Promise<KeyPlace> {
    this.#around.learn([credential.key]);
    let place: KeyPlace = "file";
    await this.#change(async (all, inKeychain) => {
      const isKept = (await this.#around.keychain?.store(driver, credential.key)) === true;
      place = isKept ? "keychain" : "file";
      // no older key stays where the new one is not
      if (!isKept && inKeychain.delete(driver)) await this.#around.keychain?.remove(driver);
      const { baseUrl } = credential;
      const server = baseUrl === undefined ? {} : { baseUrl };
      if (isKept) inKeychain.set(driver, { place: "keychain", ...server });
      all.set(driver, credential);
    });
    return place;
  }

  async remove(driver: CredentialDriver): Promise<boolean> {
    let isThere = false;
    await this.#change(async (all, inKeychain) => {
      const isInKeychain = inKeychain.delete(driver);
      if (isInKeychain) await this.#around.keychain?.remove(driver);
      isThere = all.delete(driver) || isInKeychain;
    });
    return isThere;
  }

  complete(env: Readonly<Record<string, string>>): Record<string, string> {
    const full = { ...env };
    for (const [driver, credential] of this.#all) {
      if (!namesDriver(env, driver)) Object.assign(full, credentialEnv(driver, credential));
    }
    return full;
  }

  /** One change after the other; it holds once it is on the disk. */
  #change(
    act: (all: Map<CredentialDriver, Credential>, inKeychain: Map<CredentialDriver, Stored>) => Promise<void>,
  ): Promise<void> {
    const done = this.#changing.then(async () => {
      const [all, inKeychain] = [new Map(this.#all), new Map(this.#inKeychain)];
      if (this.#notGiven !== undefined)
        throw new Fault({
          code: "UNAVAILABLE",
          message: `cannot read ${this.file}: ${this.#notGiven}; nothing was changed`,
        });
      await act(all, inKeychain);
      this.#write(new Map<CredentialDriver, Stored>([...all, ...inKeychain]));
      [this.#last, this.#inKeychain] = [all, inKeychain];
    });
    this.#changing = done.catch(() => undefined);
    return done;
  }

  #write(all: ReadonlyMap<CredentialDriver, Stored>): void {
    try {
      if (this.#isUnread) this.#setAside();
      writeAtomically(this.file, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`, 0o600);
    } catch (cause) {
      throw new Fault({
        code: "UNAVAILABLE",
        message: `cannot write ${this.file}: ${messageOf(cause)}`,
        cause,
      });
    }
  }

  /** What could not be read may still have keys. */
  #setAside(): void {
    const kept = `${this.file}.unread`;
    renameSync(this.file, kept);
    this.#isUnread = false;
    this.#around.warn(`the stored keys that could not be read are in ${kept} now`);
  }

  #read(): ReadonlyMap<CredentialDriver, Credential> {
    const all = new Map<CredentialDriver, Credential>();
    const inKeychain = new Map<CredentialDriver, Stored>();
    const before = this.#notGiven;
    this.#notGiven = undefined;
    try {
      const stats = lstatSync(this.file, { throwIfNoEntry: false });
      if (stats === undefined) return all;
      if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error("not a file of stored keys");
      if ((stats.mode & 0o077) !== 0) chmodSync(this.file, 0o600);
      const text = this.#around.readText?.(this.file) ?? readFileSync(this.file, "utf8");
      const found = JSON.parse(text) as Record<string, Stored>;
      for (const driver of CREDENTIAL_DRIVERS) {
        const { place, baseUrl, ...kept } = found[driver] ?? {};
        const server = typeof baseUrl === "string" ? { baseUrl } : {};
        if (place === "keychain") inKeychain.set(driver, { place, ...server });
        const key = place === "keychain" ? this.#around.keychain?.read(driver) : kept.key;
        if (place === "keychain" && key === undefined)
          this.#around.warn(`the stored key of ${driver} is not used: the keychain did not answer`);
        if (typeof key !== "string" || key === "") continue;
        all.set(driver, { key, ...server });
      }
      this.#around.learn([...all.values()].map(({ key }) => key));
    } catch (error) {
      const why = messageOf(error);
      if (isNotGiven(error)) this.#notGiven = why;
      else this.#isUnread = true;
      if (this.#notGiven === undefined || before === undefined)
        this.#around.warn(`stored keys are not used: ${this.file}: ${why}`);
    }
    this.#inKeychain = inKeychain;
    return all;
  }
}
