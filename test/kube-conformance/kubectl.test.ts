import { type ExecFileException, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestKubeApi, type TestKubeApi } from '../support/kube-api.ts';
import { until } from '../support/until.ts';
import { configMap, widget } from './cluster.ts';
import { widgetCrd } from './widget-crd.ts';

const isInstalled = spawnSync('kubectl', ['version', '--client']).status === 0;
if (!isInstalled) process.stderr.write('no kubectl on the PATH: its cases are left out\n');

let kube: TestKubeApi;
let dir: string;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  if (!isInstalled) return;
  kube = await startTestKubeApi({ crds: [widgetCrd] });
  dir = await mkdtemp(join(tmpdir(), 'kubectl-'));
  env = { PATH: process.env.PATH, HOME: dir, KUBECONFIG: kube.kubeconfig };
  await until('kubectl to know widgets', async () => (await kubectl('get', 'widgets')).code === 0);
});
afterAll(async () => {
  if (!isInstalled) return;
  await kube.stop();
  await rm(dir, { recursive: true });
});

interface Answer {
  readonly code: number;
  readonly output: string;
}

/** What kubectl prints, errors included. The server may live in this process: nothing here may block it. */
function kubectl(...args: readonly string[]): Promise<Answer> {
  return new Promise((resolve) => {
    execFile('kubectl', args, { env, cwd: dir, timeout: 20_000 }, (error: ExecFileException | null, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: out + err });
    });
  });
}

async function expectOutput(args: readonly string[], pattern: RegExp, code = 0): Promise<void> {
  const answer = await kubectl(...args);
  expect(answer.output).toMatch(pattern);
  expect(answer.code).toBe(code);
}

/** A file with an object, for `-f`. */
async function manifest(object: object): Promise<string> {
  const file = join(dir, `${Math.random()}.json`);
  await writeFile(file, JSON.stringify(object));
  return file;
}

type Step = readonly [args: string, pattern: RegExp, code?: number];

/** Steps in which `FILE` stands for the path of the manifest. */
async function follow(steps: readonly Step[], file = ''): Promise<void> {
  for (const [args, pattern, code] of steps) {
    await expectOutput(
      args.split(' ').map((arg) => (arg === 'FILE' ? file : arg)),
      pattern,
      code,
    );
  }
}

(isInstalled ? describe : describe.skip)('kubectl', () => {
  test('apply and diff, on the client', async () => {
    await follow(
      [
        ['apply -f FILE', /^widget\.test\.example\.com\/client created$/m],
        ['apply -f FILE', /client unchanged$/m],
        ['diff -f FILE', /^$/],
      ],
      await manifest(widget('client')),
    );
    const changed = await manifest(widget('client', { size: 5 }));
    await follow(
      [
        ['diff -f FILE', /^- {2}size: 3\n\+ {2}size: 5$/m, 1],
        ['apply -f FILE', /client configured$/m],
      ],
      changed,
    );
    await follow(
      [['apply --dry-run=server -f FILE', /unchanged \(server dry run\)|configured \(server dry run\)/]],
      changed,
    );
  });

  test('apply and diff, on the server', async () => {
    const file = await manifest(widget('server', { size: 4 }));
    await follow(
      [
        ['apply --server-side -f FILE', /server serverside-applied$/m],
        ['diff --server-side -f FILE', /^$/],
      ],
      file,
    );
    const other = await manifest(widget('server', { size: 5 }));
    await follow(
      [
        ['diff --server-side -f FILE', /^\+ {2}size: 5$/m, 1],
        [
          'apply --server-side --field-manager=other -f FILE',
          /Apply failed with 1 conflict: .*"kubectl": \.spec\.size/,
          1,
        ],
        ['apply --server-side --field-manager=other --force-conflicts -f FILE', /serverside-applied$/m],
      ],
      other,
    );
  });

  test('apply on the server after the client', async () => {
    await follow([['apply -f FILE', /created/]], await manifest(widget('moved', { note: 'n' })));
    await follow(
      [['apply --server-side -f FILE', /serverside-applied$/m]],
      await manifest(widget('moved', { note: 'm' })),
    );
    await follow([
      ['get wd moved -o jsonpath={.spec.note}', /^m$/],
      ['patch wd moved --type=merge -p {"spec":{"note":"x"}}', /patched$/m],
    ]);
    await follow(
      [
        ['apply --server-side -f FILE', /Apply failed with 1 conflict: .*"kubectl-patch".*: \.spec\.note/, 1],
        ['replace -f FILE', /replaced$/m],
        ['delete -f FILE', /"moved" deleted/],
      ],
      await manifest(widget('moved', { note: 'm' })),
    );
  });

  test('get in every format', async () => {
    await follow(
      [['apply -f FILE', /created/]],
      await manifest(widget('seen', { note: 'n' }, { metadata: { labels: { app: 'x' } } })),
    );
    await follow([
      ['get wd seen', /^NAME +COLOR +SIZE +READY +AGE\nseen +red +3 +\d+s$/m],
      ['get widgets -l app=x --no-headers', /^seen +red/],
      ['get wd seen -o wide', /^NAME +COLOR +SIZE +READY +NOTE +WHEN +AGE\nseen +red +3 +n +\d+s$/m],
      ['get wd -A', /^NAMESPACE +NAME[\s\S]*^default +seen/m],
      [
        'get wd seen -o yaml',
        /^apiVersion: test\.example\.com\/v1\nkind: Widget\nmetadata:\n[\s\S]*\nspec:\n[\s\S]*color: red$/m,
      ],
      ['get wd seen -o json', /"kind": "Widget"/],
      ['get wd seen -o name', /^widget\.test\.example\.com\/seen$/m],
      ['get wd seen -o jsonpath={.spec.color}', /^red$/],
      ['get gadgets', /^seen/m],
      ['get wd nobody', /^Error from server \(NotFound\): widgets\.test\.example\.com "nobody" not found$/m, 1],
      ['get wd --chunk-size=1', /^seen/m],
      ['get wd seen --show-labels', /LABELS\nseen .* app=x$/m],
      ['get wd seen --subresource=status', /^seen/m],
      ['get wd --field-selector spec.color=red -o name', /^widget\.test\.example\.com\/seen$/m],
      ['get --raw /apis/test.example.com/v1/widgets?limit=1', /"kind":"WidgetList"/],
    ]);
  });

  test('get -w', async () => {
    const child = spawn('kubectl', ['get', 'wd', '-w', '--output-watch-events', '--no-headers'], { env, cwd: dir });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    try {
      await follow([['apply -f FILE', /created/]], await manifest(widget('watched')));
      await until('the object to be shown', () => /^ADDED +watched/m.test(output));
      await follow([['delete wd watched', /deleted/]]);
      await until('its end to be shown', () => /^DELETED +watched/m.test(output));
    } finally {
      child.kill();
    }
  });

  test('describe, explain, api-resources, api-versions, version', async () => {
    await follow([['apply -f FILE', /created/]], await manifest(widget('told')));
    const uid = (await kubectl('get', 'wd', 'told', '-o', 'jsonpath={.metadata.uid}')).output;
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'told.1', namespace: 'default' },
      involvedObject: { apiVersion: 'test.example.com/v1', kind: 'Widget', name: 'told', namespace: 'default', uid },
      reason: 'Happened',
      message: 'it did',
      type: 'Normal',
    };
    await follow([['create -f FILE', /created/]], await manifest(event));
    await follow([
      [
        'describe wd told',
        /^Name: +told$[\s\S]*^Kind: +Widget$[\s\S]*^ {2}Color: +red$[\s\S]*Events:[\s\S]*Happened[\s\S]*it did/m,
      ],
      ['events --for widget/told', /Happened/],
      ['explain wd', /^KIND: +Widget$[\s\S]*A widget\.[\s\S]*apiVersion[\s\S]*APIVersion defines/m],
      ['explain wd.spec.color', /^FIELD: color <string>$[\s\S]*The colour\./m],
      ['explain wd --recursive', /^ {2}metadata\t<ObjectMeta>$[\s\S]*^ {4}conditions\t<\[\]Object>$/m],
      ['explain wd.metadata.ownerReferences', /^FIELD: ownerReferences <\[\]OwnerReference>$/m],
      ['api-resources --api-group=test.example.com', /^widgets +wd +test\.example\.com\/v1 +true +Widget$/m],
      ['api-versions', /^test\.example\.com\/v1$/m],
      ['version', /^Server Version: v1\.36/m],
    ]);
  });

  test('apply takes an item out of a list of a built-in type', async () => {
    const service = (...ports: readonly number[]) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'ports' },
      spec: { ports: ports.map((port) => ({ name: `p${port}`, port })) },
    });
    const ports = 'get svc ports -o jsonpath={.spec.ports[*].port}';
    await follow([['apply -f FILE', /created/]], await manifest(service(80, 81)));
    await follow([[ports, /^80 81$/]]);
    await follow([['apply -f FILE', /configured/]], await manifest(service(81, 82)));
    await follow([[ports, /^(81 82|82 81)$/]]);
  });

  // kubectl looks at OpenAPI v2 for its kind.
  test('apply, create, replace and delete of a list', async () => {
    const list = (...items: readonly object[]) => manifest({ apiVersion: 'v1', kind: 'List', items });
    const steps: readonly Step[] = [
      ['apply -f FILE', /^configmap\/listed created\nwidget\.test\.example\.com\/listed created$/m],
      ['apply -f FILE', /^configmap\/listed unchanged\nwidget\.test\.example\.com\/listed unchanged$/m],
      ['replace -f FILE', /^configmap\/listed replaced\nwidget\.test\.example\.com\/listed replaced$/m],
      ['delete -f FILE', /"listed" deleted[\s\S]*"listed" deleted/],
      ['create -f FILE', /^configmap\/listed created\nwidget\.test\.example\.com\/listed created$/m],
    ];
    await follow(steps, await list(configMap('listed', { k: 'v' }), widget('listed')));
    const shown = await kubectl('get', 'cm,wd', '-o', 'json');
    await follow([['apply -f FILE', /listed configured|listed unchanged/]], await manifest(JSON.parse(shown.output)));
    // By kubectl itself where the document has its type.
    await follow([['apply -f FILE', /unknown field "(spec\.)?foo"/, 1]], await list(widget('unlisted', { foo: 1 })));
  });

  test('asks for OpenAPI v3 only, but for a client-side apply of a custom resource', async () => {
    const without = (args: string): Step => [`${args} -v=6`, /^(?![\s\S]*\/openapi\/v2)/];
    const applies = ['apply -f FILE', 'apply -f FILE', 'apply --server-side --force-conflicts -f FILE'];
    await follow(applies.map(without), await manifest(configMap('asked')));
    await follow(applies.slice(2).map(without), await manifest(widget('asked')));
    await follow(
      ['explain wd.spec', 'describe wd asked', 'replace -f FILE', 'delete wd,cm asked'].map(without),
      await manifest(widget('asked')),
    );
  });

  test('edit, patch, label, annotate, wait', async () => {
    await follow([['apply -f FILE', /created/]], await manifest(widget('edited')));
    const before = env;
    env = { ...env, KUBE_EDITOR: "sed -i -e 's/size: 3/size: 6/'" };
    await follow([['edit wd edited', /^widget\.test\.example\.com\/edited edited$/m]]);
    env = before;
    await follow([
      ['get wd edited -o jsonpath={.spec.size}', /^6$/],
      ['patch wd edited --type=merge -p {"spec":{"note":"n"}}', /edited patched$/m],
      ['patch wd edited --type=json -p [{"op":"remove","path":"/spec/note"}]', /edited patched$/m],
      [
        'patch wd edited -p {"spec":{"note":"n"}}',
        /UnsupportedMediaType|unknown format|unable to find|strategic merge/,
        1,
      ],
      [
        'patch wd edited --subresource=status --type=merge -p {"status":{"observedGeneration":9,"conditions":[{"type":"Ready","status":"True"}]}}',
        /edited patched$/m,
      ],
      ['wait --for=condition=Ready wd/edited --timeout=10s', /edited condition met$/m],
      ['wait --for=condition=Established crd/widgets.test.example.com --timeout=10s', /condition met$/m],
      ['wait --for=jsonpath={.spec.size}=6 wd/edited --timeout=10s', /condition met$/m],
      ['label wd edited k=v', /edited labeled$/m],
      ['annotate wd edited k=v', /edited annotated$/m],
      ['delete wd edited', /"edited" deleted/],
      ['wait --for=delete wd/edited --timeout=10s', /^/],
      ['wait --for=condition=Ready wd/edited --timeout=1s', /NotFound/, 1],
      ['scale wd edited --replicas=2', /not found/, 1],
    ]);
  });

  test('delete -k of a namespace and what is in it', async () => {
    const namespace = 'customized';
    const objects = [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      configMap('inside', {}, { namespace }),
      widget('inside', {}, { metadata: { namespace } }),
    ];
    const resources = await Promise.all(objects.map(async (object) => basename(await manifest(object))));
    await writeFile(join(dir, 'kustomization.yaml'), JSON.stringify({ resources }));
    await follow([
      ['apply -k .', /^configmap\/inside created$[\s\S]*^widget\.test\.example\.com\/inside created$/m],
      ['delete -k .', /^(?=[\s\S]*configmap "inside" deleted)[\s\S]*widget\.test\.example\.com "inside" deleted/],
      ['get ns customized', /NotFound/, 1],
    ]);
  });

  test('create secret, configmap, namespace; delete', async () => {
    await follow([
      ['create secret generic s --from-literal=a=b', /^secret\/s created$/m],
      ['create secret generic s --from-literal=a=b', /secrets "s" already exists$/m, 1],
      ['get secret s -o jsonpath={.type}:{.data.a}', /^Opaque:Yg==$/],
      ['describe secret s', /^a: +1 bytes$/m],
      ['create configmap m --from-literal=a=b', /^configmap\/m created$/m],
      ['get cm m -o jsonpath={.data.a}', /^b$/],
      ['create service clusterip web --tcp=80:8080', /^service\/web created$/m],
      ['get svc web -o jsonpath={.spec.ports[0].targetPort}', /^8080$/],
      ['create serviceaccount robot', /created$/m],
      ['create role reader --verb=get --resource=configmaps', /created$/m],
      ['create rolebinding reader --role=reader --serviceaccount=default:robot', /created$/m],
      ['create deployment web --image=a --port=80', /^deployment\.apps\/web created$/m],
      ['set image deployment/web a=b', /image updated$/m],
      [
        'get deploy web -o jsonpath={.metadata.generation}:{.spec.template.spec.containers[*].image}:{.spec.template.spec.containers[*].ports[*].containerPort}',
        /^2:b:80$/,
      ],
      ['create namespace n', /^namespace\/n created$/m],
      ['create configmap m -n n --from-literal=a=b', /created$/m],
      ['delete ns n', /namespace "n" deleted/],
      ['get cm m -n n', /NotFound/, 1],
      ['delete secret,cm --all', /"s" deleted/],
      ['delete wd nobody', /NotFound/, 1],
      ['delete wd nobody --ignore-not-found', /^$/],
      ['delete wd --all', /^/],
      ['get wd', /^No resources found in default namespace\.$/m],
    ]);
  });

  test.each(['logs', 'exec'])('%s refuses cleanly', async (command) => {
    const answer = await kubectl(command, 'nobody', ...(command === 'exec' ? ['--', 'true'] : []));
    expect(answer.output).toMatch(/^[Ee]rror.*pods/);
    expect(answer.code).toBe(1);
  });

  test('a wrong manifest is refused with the field', async () => {
    await follow(
      [
        ['apply -f FILE', /spec\.color: Unsupported value: "pink": supported values: "red", "green", "blue"/, 1],
        ['create -f FILE', /Unsupported value/, 1],
      ],
      await manifest(widget('wrong', { color: 'pink' })),
    );
    await follow(
      [['apply -f FILE', /strict decoding error: unknown field "spec\.foo"/, 1]],
      await manifest(widget('wrong', { foo: 1 })),
    );
  });
});
