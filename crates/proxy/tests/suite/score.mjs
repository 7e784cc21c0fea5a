// Reads the results of the tests from standard input, and prints a line for each of them: its kind, its id, and what came of it. A test counts only if
// those that it depends on have passed, as on the page of the tests.
import { readFileSync } from 'node:fs'
import suites from 'http-cache-tests/tests/index.mjs'
import surrogate from 'http-cache-tests/tests/surrogate-control.mjs'

const text = readFileSync(0, 'utf8')
const results = JSON.parse(text.slice(text.indexOf('{')))
const tests = new Map([...suites, surrogate].flatMap(suite => suite.tests).filter(test => !test.browser_only).map(test => [test.id, test]))

function outcome (test) {
  const result = results[test.id]
  if (result === undefined) return 'untested'
  if ((test.depends_on ?? []).some(id => !tests.has(id) || outcome(tests.get(id)) !== 'pass')) return 'depends'
  if (result === true) return 'pass'
  return result[0] === 'Assertion' ? 'fail' : result[0].toLowerCase()
}

for (const test of tests.values()) console.log(test.kind ?? 'required', test.id, outcome(test))
