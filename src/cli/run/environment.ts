/**
 * The part of this command's environment that a process receives: everything but the `*_IPC_*` variables, which name
 * this client's own socket and token.
 */
export function clientEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !/^(?:CRUX|KAIRO)_IPC_/.test(name)) kept[name] = value;
  return kept;
}
