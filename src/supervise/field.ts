/** A value of a specification with its path, so that errors can name the path. */
import { Fault } from "../abi/errors.ts";

export class Field {
  readonly path: string;
  readonly value: unknown;

  constructor(path: string, value: unknown) {
    this.path = path;
    this.value = value;
  }

  /** Throws INVALID with the path, such as `children[2].id: used twice`. */
  fail(message: string): never {
    throw new Fault({ code: "INVALID", message: this.path === "" ? message : `${this.path}: ${message}` });
  }

  get isGiven(): boolean {
    return this.value !== undefined;
  }

  has(key: string): boolean {
    return this.at(key).isGiven;
  }

  /** A key of an object; a missing one is a field without a value. */
  at(key: string): Field {
    const path = this.path === "" ? key : `${this.path}.${key}`;
    return new Field(path, (this.value as Record<string, unknown>)[key]);
  }

  /** An object with no other keys than these. */
  object(keys: readonly string[]): this {
    if (typeof this.value !== "object" || this.value === null || Array.isArray(this.value))
      this.fail("must be an object");
    const unknown = Object.keys(this.value).find((key) => !keys.includes(key));
    if (unknown !== undefined) this.fail(`unknown key ${unknown}; known: ${keys.join(", ")}`);
    return this;
  }

  list(max: number): Field[] {
    if (!Array.isArray(this.value)) this.fail("must be a list");
    if (this.value.length > max) this.fail(`${this.value.length} entries; at most ${max}`);
    return this.value.map((entry: unknown, at) => new Field(`${this.path}[${at}]`, entry));
  }

  text(): string {
    if (typeof this.value !== "string") this.fail("must be a string");
    if (this.value.trim() === "") this.fail("is empty");
    return this.value;
  }

  flag(otherwise: boolean): boolean {
    if (!this.isGiven) return otherwise;
    if (typeof this.value !== "boolean") this.fail("must be true or false");
    return this.value;
  }

  number(min: number, max: number): number {
    if (typeof this.value !== "number" || !(this.value >= min && this.value <= max))
      this.fail(`must be a number from ${min} to ${max}`);
    return this.value;
  }

  int(min: number, max: number): number {
    const { value } = this;
    if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max)
      this.fail(`must be a whole number from ${min} to ${max}`);
    return value;
  }

  oneOf<T extends string>(words: readonly T[], otherwise: T): T {
    if (!this.isGiven) return otherwise;
    const found = words.find((word) => word === this.value);
    return found ?? this.fail(`must be one of ${words.join(", ")}`);
  }
}
