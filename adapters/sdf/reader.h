/*
 * What the readers of a world file share. The first failure is kept in `status`; everything after it reads on without harm and without
 * effect, so that callers need to look only where they loop.
 */
#ifndef PC_SDF_READER_H
#define PC_SDF_READER_H

#include <libxml/tree.h>

#include "adapters/sdf/scene.h"

enum {
    PC_SDF_MOST_DEPTH = 64,            /* of elements in each other */
    PC_SDF_MOST_INCLUDES = 16,         /* of files in each other */
    PC_SDF_MOST_FILES = 4096,          /* in all */
    PC_SDF_MOST_BYTES = 64 << 20,      /* of one file */
    PC_SDF_MOST_READ = 256 << 20,      /* of all files */
    PC_SDF_MOST_KEPT = 512 << 20,      /* of memory for what is read from them, besides the elements themselves */
    PC_SDF_MOST_ELEMENTS = 2000000,    /* and attributes, of all files */
    PC_SDF_MOST_CORNERS = 3000000,     /* of the triangles of a mesh */
    PC_SDF_MOST_POINTS = 200000,       /* different ones, of all meshes */
    PC_SDF_MOST_CLONED = 20000000,     /* elements of clones */
    PC_SDF_MOST_DISTANCES = 400000000, /* between clones, a body that is there counts 100 times */
    PC_SDF_MOST_ROOTS = 64,            /* folders to search */
    PC_SDF_MOST_LINKS = 100000,        /* likewise collisions and joints */
    PC_SDF_LONGEST_NAME = 255,
    PC_SDF_LONGEST_PATH = 1000,      /* of names in each other */
    PC_SDF_MOST_ATTRIBUTES = 256,    /* of one element */
    PC_SDF_MOST_FRAMES_BETWEEN = 500 /* from a frame to its model */
};

typedef enum pcSdfFrameKind { PC_SDF_FRAME, PC_SDF_MODEL, PC_SDF_LINK, PC_SDF_JOINT } pcSdfFrameKind;

/* Anything that has a pose. Frame 0 is the world. */
typedef struct pcSdfFrame {
    pcSdfFrameKind kind;
    const char* name;     /* NULL: nobody can refer to it */
    int scope;            /* the model in which it stands; 0: the world */
    const char* relative; /* name of the frame that its pose is given in; NULL: `base` */
    int base;             /* -1: the link of `attached` */
    const char* attached; /* <frame attached_to>, or the child of a joint */
    const char* placement;
    int link; /* of a link; of a model: its first */
    pcPose pose;
    const xmlNode* node;
    int state;    /* 0 unknown, 1 being worked out, 2 known */
    pcPose local; /* in its scope */
} pcSdfFrame;

/* What stands beside an element that is read later, when all frames are known. */
typedef struct pcSdfJointNode {
    xmlNode* node;
    int frame, version;
} pcSdfJointNode;

typedef struct pcSdfNote {
    const char* text;
    int count;
} pcSdfNote;

typedef struct pcSdfReader {
    const char* file; /* the world's */
    pcScene* scene;
    pcStatus status;
    int version; /* 105: 1.5 */
    int includes, files, elements;
    size_t read, kept; /* bytes */
    long long cloned, distances;
    int roots;
    const char* root[PC_SDF_MOST_ROOTS]; /* real paths: nothing outside of these folders is opened */
    struct pcSdfMeshRead* meshes;        /* once read, for the next collision that names the same */
    int points;                          /* of hulls of meshes */
    int docs, docRoom;
    xmlDoc** doc; /* kept to the end: frames name the lines they stand in */
    int frames, frameRoom;
    pcSdfFrame* frame;
    struct _xmlHashTable* names;
    int linkFrameRoom, collisionFrameRoom;
    int *linkFrame, *collisionFrame; /* of each link and collision */
    int jointNodes, jointNodeRoom;
    pcSdfJointNode* jointNode;
    int notes, noteRoom;
    pcSdfNote* note;
    unsigned seed;             /* in place of the file's; 0: the file's */
    unsigned long long random; /* state of the generator */
} pcSdfReader;

/* ---- xml.c ---- */

/* The root element of a file; NULL if it failed. */
xmlNode* pcSdfOpen(pcSdfReader* reader, const char* file);
xmlNode* pcSdfChild(const xmlNode* node, const char* name); /* NULL: none; also of NULL */
xmlNode* pcSdfNext(const xmlNode* child);                   /* the next of the same name */
xmlNode* pcSdfFirst(const xmlNode* node);                   /* first and next child elements of any name */
xmlNode* pcSdfFollowing(const xmlNode* node);
bool pcSdfIs(const xmlNode* node, const char* name);
const char* pcSdfAttribute(pcSdfReader* reader, const xmlNode* node, const char* name); /* NULL: none */
const char* pcSdfText(pcSdfReader* reader, const xmlNode* node);                        /* without blanks around it; "" for NULL */
bool pcSdfIsBlank(char c);
void pcSdfFail(pcSdfReader* reader, const xmlNode* node, const char* format, ...) __attribute__((format(printf, 3, 4)));
const char* pcSdfFile(const xmlNode* node);
char* pcSdfReadAll(pcSdfReader* reader, const char* file, size_t* size); /* with room for a final 0; NULL: failed; free() it */

/* ---- memory.c ---- */

void pcSdfOutOfMemory(pcSdfReader* reader);         /* the reader has failed */
void* pcSdfKeep(pcSdfReader* reader, size_t bytes); /* zeroed, as long as the scene; NULL: out of memory, and the reader has failed */
const char* pcSdfKeepText(pcSdfReader* reader, const char* text, size_t length);
const char* pcSdfJoin(pcSdfReader* reader, const char* first, const char* separator, const char* second);
bool pcSdfGrow(pcSdfReader* reader, void* array, int* room, int needed, size_t size);
pcStatus pcSceneMake(pcScene** out);

/* ---- notes.c ---- */

void pcSdfNoted(pcSdfReader* reader, const char* text);                             /* once more */
void pcSdfSkip(pcSdfReader* reader, const xmlNode* node, const char* const* known); /* notes each child that is not `known` */
const char* pcSdfNotes(pcSdfReader* reader);

/* ---- numbers.c: of the child `name` of a node, which may be missing. Beyond 1e30 numbers are refused, below 1e-30 they are 0. ---- */

typedef struct pcSdfRange {
    double least, most;
} pcSdfRange;

bool pcSdfNumbers(pcSdfReader* reader, const xmlNode* node, double* out,
                  int count);                                            /* exactly so many, in the node itself; false: failed */
double* pcSdfList(pcSdfReader* reader, const xmlNode* node, int* count); /* as many as there are, at least one; NULL: failed */
double pcSdfNumber(pcSdfReader* reader, const xmlNode* parent, const char* name, double missing);
double pcSdfPositive(pcSdfReader* reader, const xmlNode* parent, const char* name, double missing); /* >= 0 */
double pcSdfWithin(pcSdfReader* reader, const xmlNode* parent, const char* name, pcSdfRange range, double missing);
double pcSdfMost(pcSdfReader* reader, const xmlNode* parent, const char* name, double missing);  /* >= 0, and as the next */
double pcSdfLimit(pcSdfReader* reader, const xmlNode* parent, const char* name, double missing); /* inf, and 1e16, which means it */
int pcSdfInteger(pcSdfReader* reader, const xmlNode* parent, const char* name, int missing);
unsigned pcSdfBits(pcSdfReader* reader, const xmlNode* parent, const char* name, unsigned missing); /* also as 0x… */
bool pcSdfFlag(pcSdfReader* reader, const xmlNode* parent, const char* name, bool missing);
void pcSdfVector(pcSdfReader* reader, const xmlNode* parent, const char* name, double out[3]); /* stays if missing */
pcPose pcSdfPose(pcSdfReader* reader, const xmlNode* parent);
bool pcSdfDirection(pcSdfReader* reader, const xmlNode* node, double xyz[3]); /* made unit; false: failed */

bool pcSdfWord(const char* word, double* out); /* one finite number, and nothing else */

/* ---- frames.c ---- */

pcPose pcSdfIdentity(void);
int pcSdfFrameAdd(pcSdfReader* reader, const pcSdfFrame* frame);                            /* its index; -1: failed */
pcPose pcSdfFrameWorld(pcSdfReader* reader, int frame);                                     /* in the world */
int pcSdfFrameFind(pcSdfReader* reader, int scope, const char* name);                       /* -1: there is none */
int pcSdfFrameNamed(pcSdfReader* reader, int scope, pcSdfFrameKind kind, const char* name); /* in the scope itself; likewise */
void pcSdfFramesCheck(pcSdfReader* reader);               /* fails where frames are attached in a circle */
int pcSdfFrameLink(pcSdfReader* reader, int frame);       /* the link it moves with; PC_SCENE_WORLD; -2: none */
pcPose pcSdfRelative(const pcPose* of, const pcPose* in); /* of^-1 * in */

/* ---- the elements ---- */

void pcSdfVersion(pcSdfReader* reader, const xmlNode* root);
void pcSdfWorld(pcSdfReader* reader, const xmlNode* root);
void pcSdfPopulation(pcSdfReader* reader, const xmlNode* population);
void pcSdfFrameRead(pcSdfReader* reader, const xmlNode* frame, int scope);
void pcSdfGravity(pcSdfReader* reader, const xmlNode* parent, double out[3]);
void pcSdfPhysics(pcSdfReader* reader, const xmlNode* physics);
void pcSdfDefaultPhysics(pcScenePhysics* physics);
void pcSdfState(pcSdfReader* reader, const xmlNode* state); /* may be NULL */

/* What an <include> says of a model besides where it is; NULL: as the model itself says. */
typedef struct pcSdfOverride {
    const char* name;
    const xmlNode* include;
} pcSdfOverride;
void pcSdfModel(pcSdfReader* reader, xmlNode* model, int scope, bool fixed, const pcSdfOverride* override);
void pcSdfInclude(pcSdfReader* reader, const xmlNode* include, int scope, bool fixed);
const char* pcSdfName(pcSdfReader* reader, const xmlNode* node);              /* of an element that must have one; "?" if it failed */
const char* pcSdfScopeName(pcSdfReader* reader, int scope, const char* name); /* "model::inner::name" */
void pcSdfCollision(pcSdfReader* reader, const xmlNode* collision, int link, int linkFrame);
void pcSdfGeometry(pcSdfReader* reader, const xmlNode* geometry, pcSceneShape* out, bool* empty);
void pcSdfSurface(pcSdfReader* reader, const xmlNode* collision, pcSceneSurface* out);
void pcSdfLayer(pcSdfReader* reader, const xmlNode* collision, pcSceneCollision* out); /* after its surface */
void pcSdfJointHead(pcSdfReader* reader, xmlNode* joint, int scope);                   /* its frame */
void pcSdfJoint(pcSdfReader* reader, const pcSdfJointNode* joint);                     /* the rest, when all frames are known */

/* mesh.c: the pieces of an OBJ or STL file, scaled. */
void pcSdfMesh(pcSdfReader* reader, const xmlNode* mesh, pcSceneShape* out);

/* search.c: the folders that files may come from, given by the world file. */
void pcSdfRoots(pcSdfReader* reader, const char* file);
/* The file that a uri means, seen from the file that `node` stands in; NULL: there is none, or it is outside of the roots, and then the
 * reader has failed. A folder means its model.config. */
const char* pcSdfSearch(pcSdfReader* reader, const xmlNode* node, const char* uri);

#endif
