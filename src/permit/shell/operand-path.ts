/** Operands of commands as paths. */

/** What a command's operand names, `..` left in: behind a symlink it leads elsewhere than it seems. */
export function operandPath(cwd: string, operand: string): string {
  return operand.startsWith("/") ? operand : `${cwd}/${operand}`;
}

/** `a/../b`: where it leads depends on what `a` is. */
export function climbsBack(operand: string): boolean {
  const segments = operand.split("/");
  const named = segments.findIndex((segment) => segment !== "" && segment !== "." && segment !== "..");
  return named >= 0 && segments.includes("..", named);
}
