/** Thrown through the guard when the user changes the arguments: the call starts over with them. */
export class Edited extends Error {
  readonly input: Readonly<Record<string, unknown>>;

  constructor(input: Readonly<Record<string, unknown>>) {
    super("the arguments were changed by the user");
    this.input = input;
  }
}
