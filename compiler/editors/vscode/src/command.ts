// Which program is stagec: the configured one, else that of the project's environment, else the one on the path.
import { join } from "node:path";

export interface Command {
  program: string;
  args: string[];
}

/** Return the command for a folder; `exists` tells whether a file is there. */
export function findCommand(
  configured: readonly string[],
  folders: readonly string[],
  exists: (path: string) => boolean,
  platform: string = process.platform,
): Command {
  const [program, ...args] = configured;
  if (program !== undefined) return { program, args };
  const place = platform === "win32" ? ["Scripts", "stagec.exe"] : ["bin", "stagec"];
  for (const folder of folders) {
    for (const environment of [".venv", "venv"]) {
      const path = join(folder, environment, ...place);
      if (exists(path)) return { program: path, args: [] };
    }
  }
  return { program: "stagec", args: [] };
}
