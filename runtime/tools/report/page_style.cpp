// SPDX-License-Identifier: Apache-2.0
// Colours differ in lightness too, so that they stay apart for the colour-blind.
#include "page.hpp"

namespace halftone::tools {

const char* const kPageStyle = R"(
:root { color-scheme: light dark; --ground: #fff; --text: #1d2430; --soft: #5b6677; --line: #e1e5ec; --axis: #9aa4b5;
  --c0: #1f6fd6; --c1: #d2570b; --c2: #0b8457; --c3: #9538b8; --c4: #a67c00; --c5: #c2255c; --c6: #0c8599; --c7: #5c6370;
  --f32: #cfe3ff; --bf16: #ffdcb8; --f16: #d6f0cf; --tf32: #e8d8fb; --f8e4m3: #fbd3df; --f8e5m2: #c9eef2; --i32: #e3e7ee;
  --f32-arc: #3b7dd8; --bf16-arc: #d97a1a; --f16-arc: #3d9a2b; --tf32-arc: #7c46c2; --f8e4m3-arc: #c2255c; --f8e5m2-arc: #0c8599; --i32-arc: #7a8597; }
@media (prefers-color-scheme: dark) {
:root { --ground: #14181f; --text: #e4e8ef; --soft: #9aa6b8; --line: #2b323d; --axis: #66728a;
  --c0: #6ea8ff; --c1: #ff9a52; --c2: #4fcf9f; --c3: #d58cf0; --c4: #e3bf47; --c5: #ff7ba9; --c6: #4fd1e3; --c7: #b3bac5;
  --f32: #1d3c66; --bf16: #633c12; --f16: #1f4f19; --tf32: #45286b; --f8e4m3: #5e1f35; --f8e5m2: #0f4a54; --i32: #333b47;
  --f32-arc: #6ea8ff; --bf16-arc: #ff9a52; --f16-arc: #74cf63; --tf32-arc: #bb8cf5; --f8e4m3-arc: #ff7ba9; --f8e5m2-arc: #4fd1e3; --i32-arc: #9aa6b8; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: var(--text); background: var(--ground); }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; } p { color: var(--soft); margin: .3rem 0; }
table { border-collapse: collapse; font-size: .85rem; } th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); } .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.wide { overflow-x: auto; }
.legend { position: sticky; top: 0; z-index: 1; background: var(--ground); padding: .4rem 0; border-bottom: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; }
svg.swatch { width: 26px; height: 10px; vertical-align: middle; margin-right: .4rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(26rem, 100%), 1fr)); gap: 1rem 1.4rem; }
.chart { margin: 0; position: relative; } figcaption { font-weight: 600; font-size: .9rem; }
.chart svg { width: 100%; display: block; } svg text { font: 10px system-ui, sans-serif; fill: var(--text); }
svg .tick, svg .label { fill: var(--soft); font-size: 11px; } .grid { stroke: var(--line); } .axis { stroke: var(--axis); }
.line, .faint { fill: none; stroke-linejoin: round; stroke-linecap: round; } .line { stroke-width: 1.8; } .faint { stroke-width: .7; opacity: .35; }
.line.dot { stroke-width: 5; } .dashed { stroke-dasharray: 5 3; } .mark { stroke: none; } .cursor { stroke: var(--axis); visibility: hidden; }
path.c0 { stroke: var(--c0); } path.c1 { stroke: var(--c1); } path.c2 { stroke: var(--c2); } path.c3 { stroke: var(--c3); }
path.c4 { stroke: var(--c4); } path.c5 { stroke: var(--c5); } path.c6 { stroke: var(--c6); } path.c7 { stroke: var(--c7); }
.mark.c0 { fill: var(--c0); } .mark.c1 { fill: var(--c1); } .mark.c2 { fill: var(--c2); } .mark.c3 { fill: var(--c3); }
.mark.c4 { fill: var(--c4); } .mark.c5 { fill: var(--c5); } .mark.c6 { fill: var(--c6); } .mark.c7 { fill: var(--c7); }
.picture { margin: .6rem 0; } .picture img { display: block; max-width: 100%; }
.under { position: absolute; top: 0; right: 0; background: var(--ground); border: 1px solid var(--line); border-radius: .3rem; padding: 0 .4rem; font-size: .75rem; pointer-events: none; }
.bar { display: inline-block; height: .7em; border-radius: .15rem; margin-left: .5rem; min-width: 1px; }
svg.flow { width: 100%; min-width: 40rem; } .norm { fill: var(--c0); } .spoiled { fill: var(--c5); }
svg.graph { width: 100%; max-width: 62rem; } .kernel rect { fill: var(--ground); stroke: var(--axis); }
.kernel .name { font-size: 11px; font-weight: 600; } .kernel .fused { fill: var(--soft); font-size: 9px; } .phase { font-weight: 600; fill: var(--soft); }
.arc { fill: none; stroke: var(--i32-arc); stroke-width: 1.3; opacity: .55; } .chip rect { fill: var(--i32); } .chip text { font-size: 9px; }
.chip.f32 rect { fill: var(--f32); } .chip.bf16 rect { fill: var(--bf16); } .chip.f16 rect { fill: var(--f16); } .chip.tf32 rect { fill: var(--tf32); }
.chip.f8e4m3 rect { fill: var(--f8e4m3); } .chip.f8e5m2 rect { fill: var(--f8e5m2); }
.arc.f32 { stroke: var(--f32-arc); } .arc.bf16 { stroke: var(--bf16-arc); } .arc.f16 { stroke: var(--f16-arc); } .arc.tf32 { stroke: var(--tf32-arc); }
.arc.f8e4m3 { stroke: var(--f8e4m3-arc); } .arc.f8e5m2 { stroke: var(--f8e5m2-arc); }
td.f32, .key.f32, .bar.f32 { background: var(--f32); } td.bf16, .key.bf16, .bar.bf16 { background: var(--bf16); } td.f16, .key.f16, .bar.f16 { background: var(--f16); }
td.tf32, .key.tf32, .bar.tf32 { background: var(--tf32); } td.f8e4m3, .key.f8e4m3, .bar.f8e4m3 { background: var(--f8e4m3); }
td.f8e5m2, .key.f8e5m2, .bar.f8e5m2 { background: var(--f8e5m2); } .key, .bar { background: var(--i32); }
.key { padding: .05rem .5rem; border-radius: .3rem; margin-right: .4rem; color: var(--text); }
details { margin: .6rem 0; } summary { cursor: pointer; font-weight: 600; } code { font-size: .85rem; } .casts td { padding-left: .3rem; }
)";

const char* const kPageScript = R"(
'use strict';
const runs = [...document.querySelectorAll('.legend span')].map(e => e.textContent);
for (const figure of document.querySelectorAll('.chart')) {
  const data = JSON.parse(figure.querySelector('script').textContent), svg = figure.querySelector('svg');
  const cursor = figure.querySelector('.cursor');
  let under = null;
  const leave = () => { under?.remove(); under = null; cursor.style.visibility = 'hidden'; };
  svg.addEventListener('mouseleave', leave);
  svg.addEventListener('mousemove', event => {
    const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) / box.width * data.of;
    const part = (x - data.left) / data.width;
    if (part < 0 || part > 1) return leave();
    const step = data.first + part * (data.last - data.first);
    const lines = data.curves.map((points, run) => {
      if (!points.length) return '';
      const near = points.reduce((a, b) => Math.abs(b[0] - step) < Math.abs(a[0] - step) ? b : a);
      return runs[run] + ': ' + near[1] + ' at ' + near[0];
    }).filter(line => line);
    if (!under) { under = document.createElement('div'); under.className = 'under'; figure.append(under); }
    under.replaceChildren(...lines.flatMap(line => [line, document.createElement('br')]));
    cursor.setAttribute('x1', x); cursor.setAttribute('x2', x); cursor.style.visibility = 'visible';
  });
}
const seconds = Number(document.body.dataset.reload);
if (seconds) {
  const details = [...document.querySelectorAll('details')], key = location.pathname;
  try { JSON.parse(sessionStorage.getItem(key) || '[]').forEach((open, i) => { if (details[i]) details[i].open = open; }); } catch {}
  setTimeout(() => {
    try { sessionStorage.setItem(key, JSON.stringify(details.map(each => each.open))); } catch {}
    location.reload();
  }, 1000 * seconds);
}
)";

}  // namespace halftone::tools
