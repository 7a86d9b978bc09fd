/** Operands of commands as paths. */

/** The path of an operand. `..` is kept: behind a symlink it leads elsewhere than the text suggests. */
export function operandPath(cwd: string, operand: string): string {
  return operand.startsWith("/") ? operand : `${cwd}/${operand}`;
}

/** Whether the path climbs back, as in `a/../b`: where it leads depends on what `a` is. */
export function climbsBack(operand: string): boolean {
  const segments = operand.split("/");
  const named = segments.findIndex((segment) => segment !== "" && segment !== "." && segment !== "..");
  return named >= 0 && segments.includes("..", named);
}
