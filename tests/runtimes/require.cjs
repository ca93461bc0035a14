// CommonJS gets the same classes as ESM.
const { MdpBroker } = require('@proj/broker');
const { MdpClient, PzqProducer } = require('@proj/client');
const { PzqServer } = require('@proj/pzq');
const { MdpWorker } = require('@proj/worker');

const required = [MdpBroker, MdpClient, PzqProducer, PzqServer, MdpWorker];
void Promise.all(['broker', 'client', 'pzq', 'worker'].map((name) => import(`@proj/${name}`))).then(
  ([broker, client, pzq, worker]) => {
    const imported = [broker.MdpBroker, client.MdpClient, client.PzqProducer, pzq.PzqServer, worker.MdpWorker];
    console.log(JSON.stringify({ same: required.every((one, index) => one === imported[index]) }));
  },
);
