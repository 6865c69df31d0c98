// The files of flow tests in the test explorer; stagec runs them.
import { execFile } from "node:child_process";
import * as vscode from "vscode";
import type { Command } from "./command";
import { listTests, readResults } from "./flowTests";

const FILES = "**/*.flow-test.{yaml,yml}";

export function offerTests(findCommand: (folder: vscode.WorkspaceFolder) => Command): vscode.Disposable {
  const controller = vscode.tests.createTestController("stagec", "stagec flow tests");
  const watcher = vscode.workspace.createFileSystemWatcher(FILES);
  const read = async (uri: vscode.Uri) => list(controller, uri, new TextDecoder().decode(await vscode.workspace.fs.readFile(uri)));
  watcher.onDidCreate((uri) => void read(uri));
  watcher.onDidChange((uri) => void read(uri));
  watcher.onDidDelete((uri) => controller.items.delete(uri.toString()));
  const readAll = async () => {
    for (const uri of await vscode.workspace.findFiles(FILES, "**/node_modules/**")) await read(uri);
  };
  controller.refreshHandler = readAll;
  void readAll();
  controller.createRunProfile(
    "Run",
    vscode.TestRunProfileKind.Run,
    async (request, token) => {
      const run = controller.createTestRun(request);
      const chosen = request.include ?? [...controller.items].map(([, item]) => item);
      const files = new Set(chosen.map((item) => item.parent ?? item));
      for (const file of files) {
        if (token.isCancellationRequested) break;
        const all = [...file.children].map(([, item]) => item);
        const wanted = chosen.includes(file) ? all : all.filter((item) => chosen.includes(item));
        await runFile(run, file, wanted.filter((item) => !request.exclude?.includes(item)), findCommand, token);
      }
      run.end();
    },
    true,
  );
  return vscode.Disposable.from(controller, watcher);
}

function list(controller: vscode.TestController, uri: vscode.Uri, text: string): void {
  const file = controller.createTestItem(uri.toString(), vscode.workspace.asRelativePath(uri), uri);
  for (const { name, line } of listTests(text)) {
    const item = controller.createTestItem(`${uri.toString()}#${name}`, name, uri);
    item.range = new vscode.Range(line, 0, line, 0);
    file.children.add(item);
  }
  controller.items.add(file);
}

async function runFile(
  run: vscode.TestRun,
  file: vscode.TestItem,
  wanted: vscode.TestItem[],
  findCommand: (folder: vscode.WorkspaceFolder) => Command,
  token: vscode.CancellationToken,
): Promise<void> {
  const uri = file.uri;
  const folder = uri && vscode.workspace.getWorkspaceFolder(uri);
  if (uri === undefined || folder === undefined) return;
  for (const item of wanted) run.started(item);
  const { program, args } = findCommand(folder);
  try {
    const [printed, said] = await start(program, [...args, "test", "--format", "json", uri.fsPath], folder.uri.fsPath, token);
    const results = readResults(printed, said);
    for (const item of wanted) {
      const result = results.get(item.label);
      if (result === undefined) run.skipped(item);
      else if (result.complaints.length === 0) run.passed(item);
      else
        run.failed(
          item,
          result.complaints.map((each) => {
            const message = new vscode.TestMessage(each.message);
            message.location = new vscode.Location(uri, new vscode.Position(each.line - 1, each.column - 1));
            return message;
          }),
        );
    }
  } catch (error) {
    const message = new vscode.TestMessage(error instanceof Error ? error.message : String(error));
    for (const item of wanted) run.errored(item, message);
  }
}

/** Return what a program prints; failing tests are no failure of it. */
function start(program: string, args: string[], cwd: string, token: vscode.CancellationToken): Promise<[string, string]> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { cwd, maxBuffer: 2 ** 26 }, (error, printed, said) => {
      if (error !== null && typeof error.code !== "number") reject(error);
      else resolve([printed, said]);
    });
    token.onCancellationRequested(() => child.kill());
  });
}
