/** Thrown through the guard by a person's answer: the call is made again with these arguments, from the very beginning. */
export class Edited extends Error {
  readonly input: Readonly<Record<string, unknown>>;

  constructor(input: Readonly<Record<string, unknown>>) {
    super("the arguments were changed by the user");
    this.input = input;
  }
}
