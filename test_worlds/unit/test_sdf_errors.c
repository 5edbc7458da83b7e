/* World files that are wrong, or mean harm: one sentence with the line, and nothing else happens. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/fuzz/sdf_mutate.h"
#include "test_worlds/unit/sdf_text.h"

typedef struct Case {
    int line;
    const char *sentence, *text;
} Case;

/* Each text begins in line 3 of its file. */
#define LINK(inside) "<model name='m'><link name='l'>\n" inside "</link></model>"
#define SHAPE(inside) LINK("<collision name='c'><geometry>\n" inside "</geometry></collision>")
#define LAYER(inside) LINK("<collision name='c'><geometry/><pcontact>\n<layer>" inside "</layer></pcontact></collision>")
#define JOINT(type, inside) "<model name='m'><link name='a'/><link name='b'/>\n<joint name='j' type='" type "'>" inside "</joint></model>"
#define TEN "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
#define ENDS "<parent>a</parent><child>b</child>"

static const Case cases[] = {
    {3, "needs a name", "<model/>"},
    {3, "needs a name", "<model name='m'><link/></model>"},
    {3, "longer than 255 bytes", "<model name='" TEN TEN TEN "'/>"},
    {3, "is reserved", "<model name='world'/>"},
    {3, "is reserved", "<model name='m'><link name='__model__'/></model>"},
    {4, "there is another 'l'", "<model name='m'><link name='l'/>\n<link name='l'/></model>"},
    {4, "must be 6 finite numbers", LINK("<pose>1 2 3</pose>")},
    {4, "more than 6 numbers", LINK("<pose>1 2 3 4 5 6 7</pose>")},
    {4, "must be 6 finite numbers", LINK("<pose>1 2 nan 0 0 0</pose>")},
    {4, "must be 6 finite numbers", LINK("<pose>1 2 1e999 0 0 0</pose>")},
    {4, "must be 6 finite numbers", LINK("<pose>1 2 0x10 0 0 0</pose>")},
    {4, "must be 6 finite numbers", LINK("<pose>1 2 3,5 0 0 0</pose>")},
    {4, "beyond 1e9", LINK("<pose>1e20 0 0 0 0 0</pose>")},
    {4, "it must be > 0", LINK("<inertial><mass>0</mass></inertial>")},
    {4, "it must be > 0", LINK("<inertial><mass>-1</mass></inertial>")},
    {4, "true or false", LINK("<gravity>perhaps</gravity>")},
    {4, "needs a <geometry>", LINK("<collision name='c'/>")},
    {5, "negative length", SHAPE("<sphere><radius>-1</radius></sphere>")},
    {5, "needs a <radius>", SHAPE("<sphere/>")},
    {5, "nothing is computed", SHAPE("<box><size>1 1 1e20</size></box>")},
    {5, "is no direction", SHAPE("<plane><normal>0 0 0</normal></plane>")},
    {5, "at least 3 points", SHAPE("<polyline><height>1</height><point>0 0</point></polyline>")},
    {5, "makes no convex body", SHAPE("<polyline><point>0 0</point><point>1 1</point><point>2 2</point><height>1</height></polyline>")},
    {5, "there is no mesh", SHAPE("<mesh><uri>model://nowhere/x.stl</uri></mesh>")},
    {5, "there is no mesh", SHAPE("<mesh><uri>http://example.org/x.stl</uri></mesh>")},
    {5, "needs a <uri>", SHAPE("<mesh/>")},
    {5, "coefficient is negative",
     LINK("<collision name='c'><geometry/><surface>\n<friction><ode><mu>-1</mu></ode></friction></surface></collision>")},
    {4, "of at most 32 bits",
     LINK("<collision name='c'><geometry/><surface><contact><collide_bitmask>-1</collide_bitmask></contact></surface></collision>")},
    {5, "<pcontact> of a collision has no <layers>; it has <layer>",
     LINK("<collision name='c'><geometry/><pcontact>\n<layers/></pcontact></collision>")},
    {5, "<layer> needs a <stiffness>", LAYER("<deepest>1</deepest>")},
    {5, "<stiffness> must be 1 finite number, not ''", LAYER("<stiffness/>")},
    {5, "<stiffness> must be 1 finite number, not 'soft'", LAYER("<stiffness>soft</stiffness>")},
    {5, "<stiffness> has 3 numbers; it must have 1", LAYER("<stiffness>1 2 3</stiffness>")},
    {5, "<damping> is a matrix, but <stiffness> has one number", LAYER("<stiffness>1</stiffness><damping>1 0 0 0 1 0 0 0 1</damping>")},
    {5, "the layer's normal stiffness is -1; it must be > 0", LAYER("<stiffness>-1</stiffness>")},
    {5, "the layer's normal damping is -1; it must be >= 0", LAYER("<stiffness>1</stiffness><damping>-1</damping>")},
    {5, "the layer's tangential stiffness is not positive definite", LAYER("<stiffness>1 0 0 0 1 2 0 2 1</stiffness>")},
    {5, "the layer's deepest deflection is 0; it must be > 0", LAYER("<stiffness>1</stiffness><deepest>0</deepest>")},
    {5, "<deepest> is -1; it must not be negative", LAYER("<stiffness>1</stiffness><deepest>-1</deepest>")},
    {4, "cannot be of type 'glue'", JOINT("glue", ENDS)},
    {4, "needs a <parent>", JOINT("revolute", "<child>b</child>")},
    {4, "which is no link here", JOINT("revolute", "<parent>nobody</parent><child>b</child>")},
    {4, "which is no link here", JOINT("revolute", "<parent>a</parent><child>nobody</child>")},
    {4, "to itself", JOINT("revolute", "<parent>a</parent><child>a</child>")},
    {4, "above the upper limit", JOINT("revolute", ENDS "<axis><limit><lower>1</lower><upper>0</upper></limit></axis>")},
    {4, "no direction", JOINT("revolute", ENDS "<axis><xyz>0 0 0</xyz></axis>")},
    {4, "needs an <axis> and an <axis2>", JOINT("universal", ENDS "<axis/>")},
    {4, "not be negative", JOINT("revolute", ENDS "<axis><dynamics><damping>-1</damping></dynamics></axis>")},
    {4, "there is no frame 'nowhere'", JOINT("revolute", ENDS "<axis><xyz expressed_in='nowhere'>1 0 0</xyz></axis>")},
    {4, "that is not 0", JOINT("screw", ENDS "<thread_pitch>0</thread_pitch>")},
    {4, "relative to itself",
     "<model name='m'><link name='l'><pose relative_to='f'/></link>\n<frame name='f'><pose relative_to='g'/></frame><frame name='g'><pose "
     "relative_to='f'/></frame></model>"},
    {3, "cannot be relative to the world", "<model name='m'><link name='l'><pose relative_to='world'>0 0 0 0 0 0</pose></link></model>"},
    {3, "there is no frame 'f' to place", "<model name='m' placement_frame='f'><link name='l'/></model>"},
    {3, "needs a <uri>", "<include/>"},
    {3, "there is no 'model://nowhere'", "<include><uri>model://nowhere</uri></include>"},
    {3, "there is no 'http://", "<include><uri>http://example.org/model</uri></include>"},
    {3, "it must be at least 1e-9 and at most 10", "<physics><max_step_size>0</max_step_size></physics>"},
    {3, "it must be at least 1", "<physics><ode><solver><iters>0</iters></solver></ode></physics>"},
    {3, "quick or world", "<physics><ode><solver><type>magic</type></solver></ode></physics>"},
    {4, "xy, xz or yz", "<physics><pcontact>\n<planar>zz</planar></pcontact></physics>"},
    {4, "gama", "<physics><pcontact>\n<gama>1</gama></pcontact></physics>"},
    {4, "gamma", "<physics><pcontact>\n<gamma>-1</gamma></pcontact></physics>"},
    {4, "not well-formed XML", "<model name='m'>\n<link></model>"},
    {4, "has 1e300, which is beyond 1e+30", LINK("<pose>1e300 0 0 0 0 0</pose>")},
    {4, "it must be > 0", LINK("<inertial><mass>1e-308</mass></inertial>")},
    {4, "it must be from 0 to 1", LINK("<velocity_decay><linear>10</linear></velocity_decay>")},
    {4, "it must be from 0 to 1", LINK("<velocity_decay><angular>-1</angular></velocity_decay>")},
    {4, "leave no place", JOINT("revolute", ENDS "<axis><limit><lower>1e16</lower></limit></axis>")},
    {4, "leave no place", JOINT("prismatic", ENDS "<axis><limit><lower>inf</lower></limit></axis>")},
    {4, "leave no place", JOINT("screw", ENDS "<axis><limit><upper>-inf</upper></limit></axis>")},
    {4, "must not be parallel", JOINT("universal", ENDS "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>")},
    {4, "must not be parallel", JOINT("revolute2", ENDS "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>-1 0 1e-5</xyz></axis2>")},
    {4, "it must be from -1e+09 to 1e+09",
     JOINT("revolute", ENDS "<axis><dynamics><spring_reference>1e16</spring_reference></dynamics></axis>")},
    {4, "which is beyond 1e+30", JOINT("revolute", ENDS "<axis><dynamics><spring_reference>1e308</spring_reference></dynamics></axis>")},
    {4, "it must be from 0 to 1", JOINT("revolute", ENDS "<axis/><physics><ode><limit><erp>1e16</erp></limit></ode></physics>")},
    {4, "it must be from 0 to 1", JOINT("ball", ENDS "<physics><ode><erp>2</erp></ode></physics>")},
    {4, "it must be from 0 to 1", "<physics><ode><constraints>\n<erp>1.5</erp></constraints></ode></physics>"},
    {4, "> 0 and at most 2", "<physics><ode><solver>\n<sor>1e16</sor></solver></ode></physics>"},
    {4, "> 0 and at most 2", "<physics><ode><solver>\n<sor>1e-308</sor></solver></ode></physics>"},
    {4, "at most 1000000", "<physics><ode><solver>\n<iters>1e9</iters></solver></ode></physics>"},
    {4, "which is beyond 1e+30", "<physics><ode><constraints>\n<cfm>1e308</cfm></constraints></ode></physics>"},
    {3, "beyond 1e+09 nothing is computed", "<gravity>0 0 -1e16</gravity>"},
    {4, "beyond 1e+09 nothing is computed", "<physics>\n<gravity>0 0 -1e16</gravity></physics>"},
    {4, "beyond 1e+09 nothing is computed",
     "<model name='m'><link name='l'/></model><state><model name='m'><link name='l'>\n<velocity>0 0 0 0 0 "
     "1e16</velocity></link></model></state>"},
    {4, "use the option", "<physics><pcontact>\n<report>/tmp/somewhere.csv</report></pcontact></physics>"},
    {4, "use the option", "<physics><pcontact>\n<dump>/tmp/somewhere</dump></pcontact></physics>"},
    {3, "there is another 'l'", "<model name='m'><link name='l'/><frame name='l'/></model>"},
    {4, "is attached to itself",
     "<model name='m'><link name='l'/>\n<frame name='f' attached_to='g'><pose relative_to='l'/></frame><frame name='g' "
     "attached_to='f'><pose relative_to='l'/></frame></model>"},
    {4, "relative to itself",
     "<model name='m'><link name='l'/>\n<frame name='f' attached_to='g'/><frame name='g' attached_to='f'/></model>"},
    {4, "which there is not", "<model name='m'><link name='l'/></model><state><model name='m'>\n<link name='k'/></model></state>"},
};

static void expectSentence(int line, const char* sentence)
{
    char place[32];
    snprintf(place, sizeof place, ".sdf:%d: ", line);
    if (!strstr(pcLastError(), place)) PC_FAIL("not line %d: %s", line, pcLastError());
    if (!strstr(pcLastError(), sentence)) PC_FAIL("not '%s': %s", sentence, pcLastError());
    if (strchr(pcLastError(), '\n')) PC_FAIL("more than a line: %s", pcLastError());
}

PC_TEST(SdfErrors, EachIsASentenceWithItsLine)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pcScene* scene;
        PC_CASE("%s", cases[i].text);
        pcStatus status = sdfRead(sdfWorld("1.7", "%s", cases[i].text), &scene);
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, status);
        if (status != PC_OK) expectSentence(cases[i].line, cases[i].sentence);
        pcSceneFree(scene);
    }
}

static const Case files[] = {
    {1, "not well-formed", ""},
    {1, "not well-formed", "not xml at all"},
    {1, "not <sdf>", "<html version='1.6'/>"},
    {1, "needs a version", "<sdf/>"},
    {1, "needs a version", "<sdf version='new'/>"},
    {1, "neither a <world> nor a <model>", "<sdf version='1.6'/>"},
    {2, "document type declaration",
     "<?xml version='1.0'?>\n<!DOCTYPE a [<!ENTITY b 'c'><!ENTITY d '&b;&b;'>]><sdf version='1.6'>&d;</sdf>"},
    {1, "document type declaration", "<!DOCTYPE a SYSTEM 'http://example.org/a.dtd'><sdf version='1.6'/>"},
    {1, "not well-formed", "<sdf version='1.6'>&unknown;</sdf>"},
};

PC_TEST(SdfErrors, FilesThatAreNoWorldsAreRefused)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        pcScene* scene;
        PC_CASE("%s", files[i].text);
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, sdfRead(files[i].text, &scene));
        expectSentence(files[i].line, files[i].sentence);
        pcSceneFree(scene);
    }
}

PC_TEST(SdfErrors, MissingFilesAndFoldersAreRefused)
{
    pcScene* scene = NULL;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSceneRead("/nowhere/at/all.sdf", &scene));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSceneRead("/tmp", &scene));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSceneRead("/dev/zero", &scene));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSceneRead(NULL, &scene));
    PC_EXPECT_TRUE(scene == NULL);
}

static char* repeated(const char* start, const char* part, int times, const char* end)
{
    size_t length = strlen(start) + strlen(end) + (size_t)times * strlen(part) + 1;
    char *text = malloc(length), *at = text;
    at += sprintf(at, "%s", start);
    for (int i = 0; i < times; i++) at += sprintf(at, "%s", part);
    sprintf(at, "%s", end);
    return text;
}

PC_TEST(SdfErrors, DepthIsLimited)
{
    static const int depths[] = {100, 100000};
    for (int i = 0; i < 2; i++) {
        pcScene* scene;
        char *open = repeated("", "<model name='m'>", depths[i], ""), *close = repeated("", "</model>", depths[i], "</world></sdf>");
        char* text = repeated("<sdf version='1.6'><world name='w'>", open, 1, close);
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, sdfRead(text, &scene));
        pcSceneFree(scene);
        free(open);
        free(close);
        free(text);
    }
}

/* A chain of frames, each relative to the next. */
PC_TEST(SdfErrors, ChainsOfFramesAreLimited)
{
    enum { LINKS = 20000 };
    char *text = malloc(LINKS * 80), *at = text;
    pcScene* scene;
    at += sprintf(at, "<sdf version='1.7'><model name='m'><link name='l'><pose relative_to='f0'/></link>\n");
    for (int i = 0; i < LINKS; i++) at += sprintf(at, "<frame name='f%d'><pose relative_to='f%d'/></frame>", i, i + 1);
    sprintf(at, "</model></sdf>");
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, sdfRead(text, &scene));
    PC_EXPECT_TRUE(strstr(pcLastError(), "relative to each other") != NULL);
    pcSceneFree(scene);
    free(text);
}

/* ---- mutations ---- */

PC_TEST(SdfErrors, MutatedWorldsNeverCrash)
{
    SdfMutation mutation = sdfMutationBegin(PCONTACT_TEST_WORLDS, 20261);
    for (int i = 0; i < 400; i++) sdfMutationRun(&mutation);
    PC_EXPECT_EQ_INT(0, mutation.badSentences);
    PC_EXPECT_GT(mutation.refused, 40);
    PC_EXPECT_GT(mutation.read, 40);
    sdfMutationEnd(&mutation);
}
